package io.isobardb.bench.streams;

import io.isobardb.bench.process.ChildMain;
import io.isobardb.bench.process.Events;
import java.io.IOException;

/**
 * The child process: one engine through one profile, as a {@link StreamsSpec} says. Its events are
 * {@code progress} and {@code step}.
 */
final class StreamsChild {
  private StreamsChild() {}

  /** Runs the part of one engine. */
  public static void main(String[] args) {
    ChildMain.run(StreamsSpec.class, args, StreamsChild::run);
  }

  private static void run(StreamsSpec spec, Events events)
      throws IOException, InterruptedException {
    switch (spec.profile()) {
      case MANY, CACHED -> new StoreLoad(spec, events).run();
      case RESTORE -> new RestoreLoad(spec, events).run();
      case LIFECYCLE -> new LifecycleLoad(spec, events).run();
      case EXPIRE -> new ExpireLoad(spec, events).run();
      default -> throw new IllegalStateException(spec.profile().label());
    }
  }
}
