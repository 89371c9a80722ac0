package io.isobardb.tpcc.kill;

import io.isobardb.tpcc.drive.Driver;
import io.isobardb.tpcc.drive.DriverClock;
import io.isobardb.tpcc.drive.Mix;
import io.isobardb.tpcc.drive.Observer;
import io.isobardb.tpcc.drive.RunSpec;
import io.isobardb.tpcc.load.Loader;
import io.isobardb.tpcc.schema.LoadMark;
import io.isobardb.tpcc.store.EngineKind;
import io.isobardb.tpcc.store.TpccStore;
import io.isobardb.tpcc.work.NewOrder;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * The process that is killed: opens the store and runs the load. Each committed order is written
 * out, in one system call, before its thread does anything else.
 */
final class KillChild {
  private KillChild() {}

  /** Runs until it is killed; ends by itself, with 1, only for a failure. */
  public static void main(String[] arguments) throws InterruptedException {
    KillSpec spec = KillSpec.parse(arguments);
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    try (TpccStore store = EngineKind.openStore(spec.store())) {
      LoadMark mark = Loader.loaded(store);
      if (mark == null) {
        throw new IllegalStateException(spec.store().dir() + " holds no complete load");
      }
      RunSpec run =
          new RunSpec(
              spec.threads(),
              RunSpec.deliveryThreads(spec.threads()),
              0,
              TimeUnit.HOURS.toMillis(1),
              Mix.SPECIFIED,
              spec.isolation(),
              false,
              true,
              spec.seed());
      Observer observer =
          new Observer() {
            @Override
            public void placed(NewOrder input, NewOrder.Placed output) {
              write(out, Acknowledged.of(input, output).line());
            }
          };
      new Driver(store, mark, run, DriverClock.SYSTEM, observer).run();
    } catch (RuntimeException | Error e) {
      e.printStackTrace();
    }
    System.exit(1);
  }

  private static void write(OutputStream out, String line) {
    try {
      out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot tell of an order", e);
    }
  }
}
