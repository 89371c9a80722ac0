package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.error.CorruptionException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Which store, and what it is opened with. */
final class StoreArgument {
  /** How {@code CURRENT} begins. */
  private static final byte[] MAGIC = "ISOBARCU".getBytes(StandardCharsets.US_ASCII);

  @Parameters(index = "0", paramLabel = "DIR", description = "The store's directory.")
  private Path directory = Path.of("");

  @Mixin private StoreSettings settings = new StoreSettings();

  /**
   * The directory, as an absolute path.
   *
   * @throws UsageException if it is none
   */
  Path directory() {
    return directory(directory);
  }

  /** The directory that was given; it may not exist. */
  Path path() {
    return directory;
  }

  /** As {@link #directory()}, for a command that takes nothing else. */
  static Path directory(Path given) {
    Path absolute = given.toAbsolutePath().normalize();
    if (Files.notExists(absolute)) {
      throw new UsageException("there is no directory " + absolute);
    }
    if (Files.isRegularFile(absolute)) {
      throw new UsageException(absolute + " is a file; give the directory that is the store");
    }
    return absolute;
  }

  /**
   * The directory of something that calls itself a store.
   *
   * @throws UsageException if it is no directory
   * @throws FailedException if it has no manifest
   */
  static Path store(Path given) {
    Path store = directory(given);
    // False if the directory may not be searched, which reading a file there reports.
    if (Files.notExists(store.resolve("CURRENT"))) {
      throw new FailedException(
          Exit.FAILURE,
          store + " is not a store: it has no file CURRENT; give a store's directory");
    }
    return store;
  }

  /**
   * As {@link #store(Path)}, for a command that opens nothing, and so meets no other check of what
   * the directory is.
   *
   * @throws FailedException if {@code CURRENT} is of something else, too
   */
  static Path ownStore(Path given) throws IOException {
    Path store = store(given);
    try (InputStream current = Files.newInputStream(store.resolve("CURRENT"))) {
      if (!Arrays.equals(current.readNBytes(MAGIC.length), MAGIC)) {
        throw new FailedException(
            Exit.FAILURE,
            store
                + " is not a store: its file CURRENT is none of a store; give a store's directory");
      }
    }
    return store;
  }

  /**
   * A directory of backups.
   *
   * @throws UsageException if it is none
   */
  static Path backups(Path given) {
    Path backups = directory(given);
    if (Files.notExists(backups.resolve("BACKUPS"))) {
      throw new UsageException(
          backups + " holds no backups: it has no file BACKUPS; give a directory of backups");
    }
    return backups;
  }

  /** Opens the store; makes one if {@code create} and there is none. */
  Store open(boolean create) {
    return StoreSettings.inWordsOfCommands(
        () ->
            create
                ? Store.open(directory, options().toBuilder().createIfMissing(true).build())
                : Store.open(store(), options()));
  }

  /** Opens the store as it is, and changes nothing in it. */
  Store openToRead() {
    return settings.openToRead(store());
  }

  /** As {@link #ownStore(Path)}. */
  Path ownStore() throws IOException {
    return ownStore(directory);
  }

  /** As {@link #store(Path)}. */
  Path store() {
    return store(directory);
  }

  /** What a command says that can't go on for damage. */
  FailedException damaged(CorruptionException e, Exit exit) {
    String tree = e.tree() == null ? "" : ", of tree '" + e.tree() + "'";
    return new FailedException(
        exit,
        String.format(
            Locale.ROOT,
            "damaged: %s at offset %d%s: %s; 'isobar check %s' tells what else is",
            directory().resolve(e.file()),
            e.offset(),
            tree,
            e.what(),
            directory()),
        e);
  }

  /** Makes a file beside the store, for those that may use what is made. */
  OutputStream create(Path file) throws IOException {
    return settings.newFiles().create(file);
  }

  /**
   * Options for a store that exists.
   *
   * @throws UsageException if a key order can't be had
   */
  StoreOptions options() {
    return settings.options();
  }
}
