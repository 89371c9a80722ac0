package io.isobardb.lsm.store;

import io.isobardb.lsm.observe.Figure;
import io.isobardb.memory.stats.Metric;
import io.isobardb.memory.stats.Metric.Kind;
import java.util.HashMap;
import java.util.Map;
import javax.management.ImmutableDescriptor;
import javax.management.MBeanAttributeInfo;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeDataSupport;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenDataException;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularDataSupport;
import javax.management.openmbean.TabularType;

/** Values and types as JMX shows them to programs that have no class of Isobar. */
final class OpenValues {
  private static final String[] COLUMNS = {"key", "value"};
  private static final String MAP = "java.util.Map<java.lang.String, java.lang.Long>";
  private static final TabularType TABLE = table();

  private OpenValues() {}

  private static TabularType table() {
    try {
      OpenType<?>[] types = {SimpleType.STRING, SimpleType.LONG};
      CompositeType row = new CompositeType(MAP, MAP, COLUMNS, COLUMNS, types);
      return new TabularType(MAP, MAP, row, new String[] {COLUMNS[0]});
    } catch (OpenDataException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The value of a figure. */
  static Object of(Object value) {
    if (!(value instanceof Map<?, ?> map)) {
      return value;
    }
    TabularDataSupport table = new TabularDataSupport(TABLE);
    map.forEach(
        (key, each) -> {
          try {
            Object[] row = {key, each};
            table.put(new CompositeDataSupport(TABLE.getRowType(), COLUMNS, row));
          } catch (OpenDataException e) {
            throw new IllegalStateException(e);
          }
        });
    return table;
  }

  /** Describes a figure. */
  static MBeanAttributeInfo attribute(Figure<?> figure) {
    Metric metric = figure.metric();
    boolean isMap = figure.type() == Map.class;
    OpenType<?> type = isMap ? TABLE : simple(figure.type());
    Map<String, Object> fields = fields(metric.kind(), type, isMap ? MAP : figure.type().getName());
    fields.put("units", metric.unit());
    fields.put("metric", figure.name());
    fields.put("tag", metric.tag());
    String className = isMap ? TABLE.getClassName() : figure.type().getName();
    return attribute(figure.attribute(), className, metric.value(), fields);
  }

  /** Describes a text. */
  static MBeanAttributeInfo text(String name, String text) {
    String className = String.class.getName();
    return attribute(name, className, text, fields(Kind.TEXT, SimpleType.STRING, className));
  }

  /** Describes a list of texts. */
  static MBeanAttributeInfo texts(String name, String text) {
    try {
      ArrayType<?> type = new ArrayType<>(1, SimpleType.STRING);
      Map<String, Object> fields =
          fields(Kind.TEXT, type, "java.util.List<" + String.class.getName() + ">");
      return attribute(name, type.getClassName(), text, fields);
    } catch (OpenDataException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, Object> fields(Kind kind, OpenType<?> type, String original) {
    Map<String, Object> fields = new HashMap<>();
    fields.put("kind", kind.name());
    fields.put("openType", type);
    fields.put("originalType", original);
    return fields;
  }

  private static MBeanAttributeInfo attribute(
      String name, String type, String text, Map<String, Object> fields) {
    return new MBeanAttributeInfo(
        name, type, text, true, false, false, new ImmutableDescriptor(fields));
  }

  private static OpenType<?> simple(Class<?> type) {
    if (type == int.class) {
      return SimpleType.INTEGER;
    }
    if (type == long.class) {
      return SimpleType.LONG;
    }
    return type == double.class ? SimpleType.DOUBLE : SimpleType.STRING;
  }
}
