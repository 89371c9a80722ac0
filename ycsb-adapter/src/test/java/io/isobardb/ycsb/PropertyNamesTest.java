package io.isobardb.ycsb;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.DBException;

class PropertyNamesTest {
  private static Properties properties(String... names) {
    Properties properties = new Properties();
    for (String name : names) {
      properties.setProperty(name, "1");
    }
    return properties;
  }

  @ParameterizedTest
  @ValueSource(strings = {"isobar.stroe.memoryBudget", "isobar.memry", "isobar."})
  void unknownOnesAreRefused(String name) {
    DBException e =
        assertThrows(DBException.class, () -> RecordClient.checkNames(properties(name)));
    assertTrue(e.getMessage().contains(name + "; known are isobar.store.OPTION"), e::getMessage);
  }

  @Test
  void knownOnesAndThoseOfOthersPass() {
    assertDoesNotThrow(
        () ->
            RecordClient.checkNames(
                properties("isobar.dir", "isobar.store.memoryBudget", "recordcount", "other.x")));
  }
}
