package io.isobardb.tpcc.work;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.schema.NuRand;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.schema.Values;
import org.junit.jupiter.api.Test;

class InputsTest {
  private static final int DRAWS = 100_000;

  private final Scale scale = Scale.of(5, 1);
  private final Values values = new Values(TestStore.seed());
  private final NuRand constants = NuRand.forLoad(values);

  @Test
  void newOrdersHaveTheirLinesRollbacksAndRemoteSuppliers() {
    int lines = 0;
    int remote = 0;
    int unused = 0;
    for (int i = 0; i < DRAWS; i++) {
      NewOrder input = NewOrder.draw(3, values, constants, scale, 1);
      int count = input.lines().size();
      assertTrue(count >= 5 && count <= 15);
      assertTrue(input.d() >= 1 && input.d() <= 10);
      lines += count;
      remote += input.remoteLines();
      for (NewOrder.Line line : input.lines()) {
        assertTrue(line.quantity() >= 1 && line.quantity() <= 10);
        assertTrue(line.supplier() >= 1 && line.supplier() <= 5);
        if (line.item() > scale.items()) {
          assertEquals(count, line.number(), "only the last item may be unused");
          unused++;
        }
      }
    }
    assertEquals(10, (double) lines / DRAWS, 0.1);
    assertEquals(0.01, (double) remote / lines, 0.0005);
    assertEquals(0.01, (double) unused / DRAWS, 0.0015);
  }

  @Test
  void paymentsAreRemoteAndByNameAsOftenAsTheyShould() {
    int remote = 0;
    int byName = 0;
    int otherDistrict = 0;
    for (int i = 0; i < DRAWS; i++) {
      Payment input = Payment.draw(3, values, constants, scale, 1);
      assertTrue(input.amountCents() >= 1_00 && input.amountCents() <= 5000_00);
      boolean home = input.choice().w() == 3;
      remote += home ? 0 : 1;
      otherDistrict += home && input.choice().d() != input.d() ? 1 : 0;
      byName += input.choice().byName() ? 1 : 0;
    }
    assertEquals(0, otherDistrict, "customers of the warehouse pay in their district");
    assertEquals(0.15, (double) remote / DRAWS, 0.005);
    assertEquals(0.60, (double) byName / DRAWS, 0.008);
  }

  @Test
  void aSingleWarehouseSuppliesItself() {
    Scale one = Scale.of(1, 1);
    for (int i = 0; i < 10_000; i++) {
      assertEquals(0, NewOrder.draw(1, values, constants, one, 1).remoteLines());
      assertEquals(1, Payment.draw(1, values, constants, one, 1).choice().w());
    }
  }

  @Test
  void otherWarehousesAreAllOthersAlike() {
    int[] counts = new int[6];
    for (int i = 0; i < 40_000; i++) {
      counts[Payment.otherWarehouse(3, values, scale)]++;
    }
    assertEquals(0, counts[3]);
    for (int w : new int[] {1, 2, 4, 5}) {
      assertEquals(10_000, counts[w], 500, "warehouse " + w);
    }
  }
}
