package io.isobardb.lsm.recovery;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.error.FormatException;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.MergeOperator;
import io.isobardb.lsm.state.TreeHandle;
import io.isobardb.lsm.version.TreeDefinition;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A tree's settings as the text that the manifest keeps. */
public final class TreeText {
  private static final String ORDER = "keyOrder";
  private static final String OPERATOR = "mergeOperator";
  private static final String LOGGED = "logged";
  private static final String CODEC = "codec";
  private static final String NO_CODEC = "0";
  private static final String LZ4 = "1";
  private static final String FILTER_BITS = "filterBitsPerKey";
  private static final int DEFAULT_FILTER_BITS = 10;
  private static final int MAX_FILTER_BITS = 24;

  private TreeText() {}

  public static Map<String, String> format(TreeHandle.Settings settings) {
    Map<String, String> text = new TreeMap<>();
    text.put(ORDER, settings.order().name());
    text.put(LOGGED, Boolean.toString(settings.logged()));
    text.put(CODEC, text(settings.compression()));
    text.put(FILTER_BITS, Integer.toString(settings.filterBitsPerKey()));
    MergeOperator operator = settings.operator();
    if (operator != null) {
      text.put(OPERATOR, operator.name());
    }
    return text;
  }

  /**
   * The settings of a tree.
   *
   * @param operators the merge operators that trees may have, by name
   * @throws FormatException if its key order or merge operator is not given, or a newer release has
   *     written what this one does not know
   */
  public static TreeHandle.Settings parse(
      TreeDefinition definition,
      Map<String, KeyOrder> orders,
      Map<String, MergeOperator> operators) {
    String name = operatorName(definition);
    MergeOperator operator = name == null ? null : operators.get(name);
    if (name != null && operator == null) {
      throw new FormatException(
          "tree '"
              + definition.name()
              + "' has the merge operator '"
              + name
              + "', which this program did not give; pass it with"
              + " StoreOptions.Builder.mergeOperator, or on the command line with"
              + " --merge-operator");
    }
    TreeHandle.Settings rest = parse(definition, orders);
    return new TreeHandle.Settings(
        rest.order(), rest.logged(), rest.compression(), rest.filterBitsPerKey(), operator);
  }

  /** The name of a tree's merge operator, or null if it has none. */
  public static @Nullable String operatorName(TreeDefinition definition) {
    return definition.options().get(OPERATOR);
  }

  /**
   * The settings of a tree, for what needs no merge operator: there is none in them.
   *
   * @throws FormatException if its key order is not among {@code orders}, or a newer release has
   *     written what this one does not know
   */
  public static TreeHandle.Settings parse(TreeDefinition definition, Map<String, KeyOrder> orders) {
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
        order, logged(definition), compression(definition), filterBits(definition), null);
  }

  /** The two that the first releases knew have numbers, which these releases read. */
  private static String text(Compression compression) {
    String text = compression.toString();
    return switch (text) {
      case "NONE" -> NO_CODEC;
      case "LZ4" -> LZ4;
      default -> text;
    };
  }

  private static Compression compression(TreeDefinition definition) {
    String text = definition.options().getOrDefault(CODEC, NO_CODEC);
    try {
      return switch (text) {
        case NO_CODEC -> Compression.NONE;
        case LZ4 -> Compression.LZ4;
        default -> Compression.parse(text);
      };
    } catch (IllegalArgumentException e) {
      throw unknown(definition, CODEC, text);
    }
  }

  private static int filterBits(TreeDefinition definition) {
    String text =
        definition.options().getOrDefault(FILTER_BITS, Integer.toString(DEFAULT_FILTER_BITS));
    try {
      int number = Integer.parseInt(text);
      if (number >= 0 && number <= MAX_FILTER_BITS) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw unknown(definition, FILTER_BITS, text);
  }

  private static FormatException unknown(TreeDefinition definition, String option, String text) {
    return new FormatException(
        "tree '"
            + definition.name()
            + "' has the option "
            + option
            + "='"
            + text
            + "', which this release does not know; open the store with the release that wrote it,"
            + " or with a later one");
  }

  /** Whether a tree's writes go to the log. */
  public static boolean logged(TreeDefinition definition) {
    return Boolean.parseBoolean(definition.options().getOrDefault(LOGGED, "true"));
  }

  /** The name of a tree's key order. */
  public static String orderName(TreeDefinition definition) {
    return definition.options().getOrDefault(ORDER, KeyOrder.BYTES.name());
  }
}
