package io.isobardb.lsm.api;

import io.isobardb.lsm.Store;
import io.isobardb.lsm.observe.Figure;
import io.isobardb.lsm.observe.SampleStats;
import io.isobardb.lsm.observe.StoreStats;
import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.Descriptor;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanFeatureInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What monitoring knows a store's figures by: names, types, units, texts. Users depend on them. */
@Tag("any-jdk")
class FiguresTest {
  private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

  @TempDir Path dir;

  @Test
  void namesAndUnitsStay() throws IOException {
    try (Store store = Store.open(dir.resolve("s"))) {
      store.openTree("t");
      store.registerMXBean();
      GoldenFile.check(FiguresTest.class, "figures.txt", question -> answer(question.get(0)));
    }
  }

  private static String answer(String question) {
    StoreStats stats = SampleStats.ofStore();
    return switch (question) {
      case "values of a store" -> values(Figure.ofStore(), stats);
      case "values of a tree" -> values(Figure.ofTree(), stats.trees().get(1));
      case "JSON" -> stats.toJson().replace(",\"", ",\n\"");
      default -> beans(question);
    };
  }

  private static <S> String values(List<Figure<S>> figures, S stats) {
    return figures.stream()
        .map(figure -> figure.attribute() + " " + figure.of(stats).toString().strip())
        .collect(Collectors.joining("\n"));
  }

  private static String beans(String pattern) {
    try {
      ObjectName name = SERVER.queryNames(new ObjectName(pattern), null).iterator().next();
      MBeanInfo info = SERVER.getMBeanInfo(name);
      return Stream.concat(
              Stream.of(info.getAttributes()).map(FiguresTest::text).sorted(),
              Stream.of(info.getOperations()).map(FiguresTest::text).sorted())
          .collect(Collectors.joining("\n"));
    } catch (JMException e) {
      throw new AssertionError(e);
    }
  }

  private static String text(MBeanAttributeInfo attribute) {
    return attribute.getType() + " " + common(attribute);
  }

  private static String text(MBeanOperationInfo operation) {
    return operation.getReturnType()
        + " "
        + common(operation)
        + Arrays.stream(operation.getSignature())
            .map(each -> "\n  " + each.getType() + " " + common(each))
            .collect(Collectors.joining());
  }

  private static String common(MBeanFeatureInfo feature) {
    Descriptor all = feature.getDescriptor();
    return Stream.of("kind", "units", "metric", "tag", "originalType")
        .filter(field -> all.getFieldValue(field) != null && !all.getFieldValue(field).equals(""))
        .map(field -> field + "=" + all.getFieldValue(field))
        .collect(
            Collectors.joining(" ", feature.getName() + " ", "\n  " + feature.getDescription()));
  }
}
