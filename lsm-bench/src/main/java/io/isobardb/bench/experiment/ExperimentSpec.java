package io.isobardb.bench.experiment;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a child process is to measure.
 *
 * @param experiment its name
 * @param scale by which points are made
 * @param seed of all choices
 * @param threads that do operations
 * @param dir for stores; it is removed
 * @param points indexes of the points to measure, in order
 */
record ExperimentSpec(
    String experiment, Scale scale, long seed, int threads, Path dir, List<Integer> points) {
  ExperimentSpec {
    points = List.copyOf(points);
  }

  String toJson() throws IOException {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("experiment", experiment);
    map.put("scale", scale.factor());
    map.put("seed", seed);
    map.put("threads", threads);
    map.put("dir", dir.toString());
    map.put("points", points);
    return JSON.std.asString(map);
  }

  static ExperimentSpec fromJson(String json) throws IOException {
    Map<String, Object> map = JSON.std.mapFrom(json);
    List<Integer> points = new ArrayList<>();
    for (Object index : (List<?>) map.get("points")) {
      points.add(((Number) index).intValue());
    }
    return new ExperimentSpec(
        (String) map.get("experiment"),
        new Scale(((Number) map.get("scale")).doubleValue()),
        ((Number) map.get("seed")).longValue(),
        ((Number) map.get("threads")).intValue(),
        Path.of((String) map.get("dir")),
        points);
  }
}
