package io.isobardb.bench.tpcc;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.tpcc.drive.Mix;
import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.Isolation;
import io.isobardb.tpcc.store.Locking;
import io.isobardb.tpcc.store.StoreSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the process of a run is asked to do.
 *
 * @param store the engine
 * @param run the load
 * @param scale how much is loaded, unless it is there
 * @param check whether to check the conditions, after a load and after the run
 * @param deliveryLog where the results of deliveries go, or null
 */
record TpccSpec(
    StoreSpec store, RunSpec run, Scale scale, boolean check, @Nullable Path deliveryLog) {
  String toJson() throws IOException {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("engine", store.engine().name());
    map.put("dir", store.dir().toAbsolutePath().toString());
    map.put("memoryBytes", store.memoryBytes());
    map.put("syncCommits", store.syncCommits());
    map.put("locking", store.locking().name());
    map.put("directIo", store.directIo());
    map.put("threads", run.threads());
    map.put("deliveryThreads", run.deliveryThreads());
    map.put("rampUpMillis", run.rampUpMillis());
    map.put("durationMillis", run.durationMillis());
    map.put("isolation", run.isolation().name());
    map.put("waits", run.waits());
    map.put("deliveryHints", run.deliveryHints());
    map.put("seed", run.seed());
    map.put("warehouses", scale.warehouses());
    map.put("items", scale.items());
    map.put("customers", scale.customers());
    map.put("newOrders", scale.newOrders());
    map.put("check", check);
    if (deliveryLog != null) {
      map.put("deliveryLog", deliveryLog.toAbsolutePath().toString());
    }
    return JSON.std.asString(map);
  }

  static TpccSpec fromJson(String json) throws IOException {
    Map<String, Object> map = JSON.std.mapFrom(json);
    String deliveryLog = (String) map.get("deliveryLog");
    return new TpccSpec(
        new StoreSpec(
            EngineKind.valueOf((String) map.get("engine")),
            Path.of((String) map.get("dir")),
            number(map, "memoryBytes").longValue(),
            (Boolean) map.get("syncCommits"),
            Locking.valueOf((String) map.get("locking")),
            (Boolean) map.get("directIo")),
        new RunSpec(
            number(map, "threads").intValue(),
            number(map, "deliveryThreads").intValue(),
            number(map, "rampUpMillis").longValue(),
            number(map, "durationMillis").longValue(),
            Mix.SPECIFIED,
            Isolation.valueOf((String) map.get("isolation")),
            (Boolean) map.get("waits"),
            (Boolean) map.get("deliveryHints"),
            number(map, "seed").longValue()),
        new Scale(
            number(map, "warehouses").intValue(),
            number(map, "items").intValue(),
            number(map, "customers").intValue(),
            number(map, "newOrders").intValue()),
        (Boolean) map.get("check"),
        deliveryLog == null ? null : Path.of(deliveryLog));
  }

  private static Number number(Map<String, Object> map, String name) {
    return (Number) map.get(name);
  }
}
