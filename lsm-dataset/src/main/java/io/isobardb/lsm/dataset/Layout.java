package io.isobardb.lsm.dataset;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The indexes that a writer maintains; immutable, and told apart by identity. */
final class Layout {
  private final List<SecondaryIndex> indexes;
  private final boolean readsOld;

  Layout(List<SecondaryIndex> indexes) {
    this.indexes = List.copyOf(indexes);
    this.readsOld = indexes.stream().anyMatch(SecondaryIndex::isEager);
  }

  List<SecondaryIndex> indexes() {
    return indexes;
  }

  /** Whether a writer needs the record it replaces. */
  boolean readsOld() {
    return readsOld;
  }

  @Nullable SecondaryIndex find(String name) {
    for (SecondaryIndex index : indexes) {
      if (index.name().equals(name)) {
        return index;
      }
    }
    return null;
  }

  /** This one without an index, and with another in its place unless that is null. */
  Layout replace(String name, @Nullable SecondaryIndex by) {
    List<SecondaryIndex> changed = new ArrayList<>(indexes);
    changed.removeIf(index -> index.name().equals(name));
    if (by != null) {
      changed.add(by);
    }
    return new Layout(changed);
  }
}
