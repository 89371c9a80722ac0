package io.isobardb.bench.record;

import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Recording;
import io.isobardb.lsm.RecordingOptions;
import io.isobardb.lsm.Store;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --record}: a run is recorded, as any store can be. */
public final class RecordOption {
  @Option(
      names = "--record",
      paramLabel = "FILE",
      description =
          "Record what clients do in a file that is not there yet, for 'isobar record' (Isobar).")
  private @Nullable Path file;

  @Option(
      names = "--record-keys",
      paramLabel = "N",
      description = "Record one key of this many, a power of two (default: 64).")
  private @Nullable Integer keys;

  /** The file, or null. */
  public @Nullable Path file() {
    return file;
  }

  /**
   * What is recorded.
   *
   * @throws UsageException if that can't be, or the file is there
   */
  public RecordingOptions options() {
    if (keys != null && file == null) {
      throw new UsageException("--record-keys is for --record");
    }
    if (file != null && Files.exists(file)) {
      throw new UsageException("--record: " + file + " is there already");
    }
    int given = keys == null ? RecordingOptions.defaults().oneKeyIn() : keys;
    return withoutBound(given);
  }

  /** A run's recording is as long as the run. */
  private static RecordingOptions withoutBound(int oneKeyIn) {
    return UsageException.ofArguments(
        () -> RecordingOptions.defaults().withOneKeyIn(oneKeyIn).withMaxBytes(Long.MAX_VALUE / 2));
  }

  /** Begins a recording; null if there is no file. */
  public static @Nullable Recording start(Store store, @Nullable Path file, int oneKeyIn) {
    return file == null ? null : store.startRecording(file, withoutBound(oneKeyIn));
  }
}
