package io.isobardb.tpcc.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.tpcc.TestStore;
import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.work.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeckTest {
  private final Deck deck = new Deck(Mix.SPECIFIED, new Values(TestStore.seed()));

  private List<Kind> deal() {
    List<Kind> cards = new ArrayList<>();
    for (int i = 0; i < 23; i++) {
      cards.add(deck.next());
    }
    return cards;
  }

  @Test
  void everyPassDealsEveryCardOnce() {
    for (int pass = 0; pass < 100; pass++) {
      Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
      deal().forEach(kind -> counts.merge(kind, 1, Integer::sum));
      assertEquals(
          Map.of(
              Kind.NEW_ORDER, 10,
              Kind.PAYMENT, 10,
              Kind.ORDER_STATUS, 1,
              Kind.DELIVERY, 1,
              Kind.STOCK_LEVEL, 1),
          counts);
    }
  }

  @Test
  void ofReadMostlyFiveInAHundredWrite() {
    Deck readMostly = new Deck(Mix.READ_MOSTLY, new Values(TestStore.seed()));
    Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
    for (int i = 0; i < 840; i++) {
      counts.merge(readMostly.next(), 1, Integer::sum);
    }
    assertEquals(
        Map.of(
            Kind.NEW_ORDER, 20,
            Kind.PAYMENT, 20,
            Kind.ORDER_STATUS, 399,
            Kind.DELIVERY, 2,
            Kind.STOCK_LEVEL, 399),
        counts);
  }

  @Test
  void passesDifferAndEveryPlaceSeesEveryKind() {
    assertNotEquals(deal(), deal());
    int[] deliveryAt = new int[23];
    for (int pass = 0; pass < 2300; pass++) {
      deliveryAt[deal().indexOf(Kind.DELIVERY)]++;
    }
    for (int place = 0; place < 23; place++) {
      assertTrue(
          deliveryAt[place] > 50 && deliveryAt[place] < 170,
          "place " + place + ": " + deliveryAt[place]);
    }
  }

  @Test
  void thinkTimesAreExponentialAndCut() {
    Values values = new Values(TestStore.seed());
    double sum = 0;
    for (int i = 0; i < 100_000; i++) {
      long nanos = Terminal.thinkNanos(12, values);
      assertTrue(nanos >= 0 && nanos <= 120_000_000_000L);
      sum += nanos / 1e9;
    }
    assertEquals(12, sum / 100_000, 0.2);
  }
}
