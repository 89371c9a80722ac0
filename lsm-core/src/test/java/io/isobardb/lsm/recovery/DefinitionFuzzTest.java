package io.isobardb.lsm.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.schedule.Watched;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.TreeDefinition;
import java.util.Map;

/** Definitions of trees and properties of stores that nobody ever wrote, as manifests have them. */
class DefinitionFuzzTest {
  private static final Map<String, KeyOrder> ORDERS = Map.of(KeyOrder.BYTES.name(), KeyOrder.BYTES);

  /** A definition as SSTables hold it. */
  @FuzzTest(maxDuration = "10m")
  void tree(byte[] bytes) {
    Watched.input("tree", bytes, () -> treeOf(bytes));
  }

  private void treeOf(byte[] bytes) {
    TreeDefinition definition = TreeDefinition.decode("0000000001.sst", bytes);
    if (definition == null) {
      return;
    }
    assertEquals(definition, TreeDefinition.decode("again", definition.encode()));
    try {
      TreeHandle.Settings settings = TreeText.parse(definition, ORDERS);
      assertNotNull(settings.compression().toString());
      assertTrue(settings.filterBitsPerKey() >= 0 && settings.filterBitsPerKey() <= 24);
      TreeDefinition again =
          new TreeDefinition(definition.id(), definition.name(), TreeText.format(settings));
      assertEquals(settings, TreeText.parse(again, ORDERS));
    } catch (FormatException e) {
      // Told of.
    }
    try {
      int pageSize = StoreProperties.pageSize(definition.options(), 4096);
      assertTrue(pageSize >= 4096 && Integer.bitCount(pageSize) == 1, "pages of " + pageSize);
    } catch (FormatException e) {
      // Told of.
    }
  }
}
