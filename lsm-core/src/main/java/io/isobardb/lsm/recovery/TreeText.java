package io.isobardb.lsm.recovery;

import io.isobardb.lsm.entry.KeyOrder;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.TreeDefinition;
import java.util.Map;
import java.util.TreeMap;

/** A tree's settings as the text that the manifest keeps. */
final class TreeText {
  private static final String ORDER = "keyOrder";
  private static final String LOGGED = "logged";
  private static final String CODEC = "codec";
  private static final String FILTER_BITS = "filterBitsPerKey";

  private TreeText() {}

  static Map<String, String> format(TreeHandle.Settings settings) {
    Map<String, String> text = new TreeMap<>();
    text.put(ORDER, settings.order().name());
    text.put(LOGGED, Boolean.toString(settings.logged()));
    text.put(CODEC, Integer.toString(settings.codec()));
    text.put(FILTER_BITS, Integer.toString(settings.filterBitsPerKey()));
    return text;
  }

  /**
   * The settings of a tree.
   *
   * @throws FormatException if its key order is not among {@code orders}
   */
  static TreeHandle.Settings parse(TreeDefinition definition, Map<String, KeyOrder> orders) {
    Map<String, String> text = definition.options();
    String name = orderName(definition);
    KeyOrder order = orders.get(name);
    if (order == null) {
      throw new FormatException(
          "tree '"
              + definition.name()
              + "' has the key order '"
              + name
              + "', which this program did not give; pass it with StoreOptions.Builder.keyOrder, or"
              + " on the command line with --key-order");
    }
    return new TreeHandle.Settings(
        order,
        logged(definition),
        Integer.parseInt(text.getOrDefault(CODEC, "0")),
        Integer.parseInt(text.getOrDefault(FILTER_BITS, "10")));
  }

  /** Whether a tree's writes go to the log. */
  static boolean logged(TreeDefinition definition) {
    return Boolean.parseBoolean(definition.options().getOrDefault(LOGGED, "true"));
  }

  /** The name of a tree's key order. */
  static String orderName(TreeDefinition definition) {
    return definition.options().getOrDefault(ORDER, KeyOrder.BYTES.name());
  }
}
