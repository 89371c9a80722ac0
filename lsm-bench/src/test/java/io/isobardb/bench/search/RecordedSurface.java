package io.isobardb.bench.search;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Bytes written per operation, recorded on simulated stores: {@code simulated-uniform} with 4,800
 * records and 4 MB of memory, over a grid of two knobs, with three seeds. Between the places of the
 * grid it is interpolated; single runs deviate as the seeds did.
 */
final class RecordedSurface {
  private final List<Knob> knobs =
      Knob.parseAll("writeMemory=512KB..3MB:log,experiment.levelSizeRatio=2..20:log");
  private final double[][] logs = new double[7][7];
  private final double noise;

  private RecordedSurface(Map<List<String>, List<Double>> runs) {
    double squares = 0;
    int freedom = 0;
    for (int i = 0; i < logs.length; i++) {
      for (int j = 0; j < logs.length; j++) {
        List<String> setting =
            List.of(knobs.get(0).spread(7).get(i), knobs.get(1).spread(7).get(j));
        List<Double> values = runs.get(setting);
        double mean = values.stream().mapToDouble(Math::log).average().getAsDouble();
        logs[i][j] = mean;
        for (double value : values) {
          squares += (Math.log(value) - mean) * (Math.log(value) - mean);
        }
        freedom += values.size() - 1;
      }
    }
    noise = Math.sqrt(squares / freedom);
  }

  static Surface read() throws IOException {
    try (InputStream in = RecordedSurface.class.getResourceAsStream("recorded-surface.csv")) {
      Map<List<String>, List<Double>> runs = new HashMap<>();
      new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .skip(1)
          .map(line -> line.split(","))
          .forEach(
              cells ->
                  runs.computeIfAbsent(List.of(cells[0], cells[1]), key -> new ArrayList<>())
                      .add(Double.valueOf(cells[3])));
      RecordedSurface recorded = new RecordedSurface(runs);
      return new Surface(recorded.knobs, recorded.noise).with(Metric.WRITTEN, recorded::at);
    }
  }

  private double at(double[] places) {
    double x = places[0] * 6;
    double y = places[1] * 6;
    int i = Math.min(5, (int) x);
    int j = Math.min(5, (int) y);
    double right = x - i;
    double up = y - j;
    return Math.exp(
        (1 - right) * ((1 - up) * logs[i][j] + up * logs[i][j + 1])
            + right * ((1 - up) * logs[i + 1][j] + up * logs[i + 1][j + 1]));
  }
}
