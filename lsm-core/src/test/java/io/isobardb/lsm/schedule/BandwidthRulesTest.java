package io.isobardb.lsm.schedule;

import io.isobardb.lsm.version.GoldenFile;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How much of the device flushes and merges get. */
class BandwidthRulesTest {
  private static final long MB = 1 << 20;

  @Test
  void choicesAreAsReviewed() throws IOException {
    GoldenFile.check(BandwidthRulesTest.class, "bandwidth.txt", BandwidthRulesTest::ask);
  }

  /**
   * Each line after the first one is a look, 10 ms after the one before: {@code clients=MB/s reads
   * learnt=MB/s held=MB/s recent=390 idle tried piece=KB pressure=}. The first line has {@code
   * device=MB/s reserve= minimum=}; {@code device=auto} and {@code device=unlimited}.
   */
  private static String ask(List<String> lines) {
    Map<String, String> given = words(lines.get(0));
    String device = given.getOrDefault("device", "200");
    BandwidthRules rules =
        new BandwidthRules(
            switch (device) {
              case "auto" -> BandwidthRules.AUTO;
              case "unlimited" -> Long.MAX_VALUE;
              default -> Long.parseLong(device) * MB;
            },
            megabytes(given, "reserve", 10),
            megabytes(given, "minimum", 50));
    StringBuilder answer = new StringBuilder();
    IoLimits limits = IoLimits.NONE;
    for (String line : lines.subList(1, lines.size())) {
      Map<String, String> seen = words(line);
      limits =
          rules.next(
              limits,
              new BandwidthRules.View(
                  new BandwidthRules.Clients(
                      megabytes(seen, "clients", 0),
                      megabytes(seen, "log", 0),
                      seen.containsKey("reads"),
                      seen.containsKey("reads") || seen.containsKey("lately")),
                  new BandwidthRules.Device(
                      megabytes(seen, "learnt", 0),
                      megabytes(seen, "held", 0),
                      megabytes(seen, "recent", 0),
                      !seen.containsKey("idle"),
                      seen.containsKey("tried")),
                  Integer.parseInt(seen.getOrDefault("piece", "8")) << 10,
                  BandwidthRules.Pressure.valueOf(seen.getOrDefault("pressure", "NONE"))));
      answer
          .append(told(limits.urgentBytes()))
          .append(", all ")
          .append(told(limits.allBytes()))
          .append(limits.eachWay() ? " each way" : "")
          .append(", pieces of ")
          .append(limits.pieceBytes() >> 10)
          .append(" KB, of flushes ")
          .append(limits.flushPieceBytes() >> 10)
          .append(" KB: ")
          .append(limits.reason())
          .append('\n');
    }
    return answer.toString();
  }

  private static Map<String, String> words(String line) {
    Map<String, String> words = new HashMap<>();
    for (String word : line.trim().split("\\s+")) {
      String[] parts = word.split("=");
      words.put(parts[0], parts.length == 1 ? "" : parts[1]);
    }
    return words;
  }

  private static long megabytes(Map<String, String> words, String name, long otherwise) {
    return Long.parseLong(words.getOrDefault(name, Long.toString(otherwise))) * MB;
  }

  private static String told(long bytes) {
    return bytes == Long.MAX_VALUE ? "no limit" : bytes / MB + " MB/s";
  }
}
