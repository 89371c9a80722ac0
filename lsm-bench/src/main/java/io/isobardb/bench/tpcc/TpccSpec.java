package io.isobardb.bench.tpcc;

import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.schema.Scale;
import io.isobardb.tpcc.store.StoreSpec;
import java.nio.file.Path;
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
    StoreSpec store, RunSpec run, Scale scale, boolean check, @Nullable Path deliveryLog) {}
