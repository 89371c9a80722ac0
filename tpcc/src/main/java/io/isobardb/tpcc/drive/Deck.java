package io.isobardb.tpcc.drive;

import io.isobardb.tpcc.schema.Values;
import io.isobardb.tpcc.work.Kind;
import java.util.ArrayList;
import java.util.List;

/** Deals the cards of a mix in random order, and shuffles them anew. Not thread-safe. */
final class Deck {
  private final List<Kind> cards = new ArrayList<>();
  private final Values values;
  private int dealt;

  Deck(Mix mix, Values values) {
    this.values = values;
    for (Kind kind : Kind.values()) {
      for (int i = 0; i < mix.cards(kind); i++) {
        cards.add(kind);
      }
    }
  }

  Kind next() {
    // One step of a shuffle per card: the card dealt is any of those not dealt yet.
    int chosen = values.uniform(dealt, cards.size() - 1);
    Kind kind = cards.get(chosen);
    cards.set(chosen, cards.get(dealt));
    cards.set(dealt, kind);
    dealt = (dealt + 1) % cards.size();
    return kind;
  }
}
