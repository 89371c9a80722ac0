package io.isobardb.lsm.version;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * A tree as the manifest knows it: what was said when it was created.
 *
 * @param id 1 or more; never used again in the store
 * @param name unique among the trees that exist
 * @param options the tree's options as text, the name of its key order among them; immutable
 */
public record TreeDefinition(int id, String name, Map<String, String> options) {
  /** Checks the ID and takes a copy of the options, in the order of their names. */
  public TreeDefinition {
    if (id < 1) {
      throw new IllegalArgumentException("tree ID " + id);
    }
    options = Collections.unmodifiableMap(new TreeMap<>(options));
  }
}
