package io.isobardb.lsm.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.isobardb.lsm.Backups;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.option.FileAccess;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What permissions files and directories are made with, and that those which exist keep theirs. */
class FileAccessTest {
  private static final Map<FileAccess, String> FILES =
      Map.of(FileAccess.OWNER, "rw-------", FileAccess.GROUP, "rw-r-----");
  private static final Map<FileAccess, String> DIRECTORIES =
      Map.of(FileAccess.OWNER, "rwx------", FileAccess.GROUP, "rwxr-x---");

  @TempDir Path top;

  @BeforeEach
  void requirePosix() throws IOException {
    assumeTrue(
        top.getFileSystem().supportedFileAttributeViews().contains("posix"), "POSIX permissions");
    Path probe = Files.createDirectory(top.resolve("probe"));
    assumeTrue(mode(probe).startsWith("rwxr-x"), "a umask that lets the group read");
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static StoreOptions options(FileAccess access) {
    return StoreOptions.builder().memoryBudget(8 << 20).fileAccess(access).build();
  }

  /** The modes of all files below a directory, and of it and those below it. */
  private static void assertModes(FileAccess access, Path directory) throws IOException {
    Set<String> files = new TreeSet<>();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : all.toList()) {
        if (Files.isDirectory(file)) {
          assertEquals(DIRECTORIES.get(access), mode(file), file.toString());
        } else {
          files.add(mode(file));
        }
      }
    }
    assertEquals(Set.of(FILES.get(access)), files, directory.toString());
  }

  private static void write(Store store) {
    store.openTree("t").put(new byte[1], new byte[100]);
    store.flush();
  }

  @Test
  void whatIsMadeIsForTheOwnerAloneOrForTheGroupToRead() throws IOException {
    for (FileAccess access : FILES.keySet()) {
      Path place = top.resolve(access.name());
      Path data = place.resolve("above").resolve("data");
      try (Store store = Store.open(data, options(access));
          Backups backups = Backups.open(place.resolve("backups"), Long.MAX_VALUE, access)) {
        write(store);
        store.checkpointTo(place.resolve("copy"));
        backups.create(store);
        backups.restore(1, place.resolve("restored"));
      }
      StoreRepair.run(data, place.resolve("repaired"), options(access), CheckProgress.NONE);
      assertModes(access, place);
    }
  }

  @Test
  void byDefaultItIsForTheOwnerAlone() throws IOException {
    try (Store store = Store.open(top.resolve("data"));
        Backups backups = Backups.open(top.resolve("backups"))) {
      write(store);
      backups.create(store);
    }
    assertModes(FileAccess.OWNER, top.resolve("data"));
    assertModes(FileAccess.OWNER, top.resolve("backups"));
  }

  @Test
  void theUmaskDecidesIfItIsAskedTo() throws IOException {
    Path data = top.resolve("data");
    try (Store store = Store.open(data, options(FileAccess.UMASK))) {
      write(store);
    }
    assertEquals(mode(top.resolve("probe")), mode(data));
    Path plain = Files.createFile(top.resolve("plain"));
    try (Stream<Path> files = Files.list(data)) {
      for (Path file : files.toList()) {
        assertEquals(mode(plain), mode(file), file.toString());
      }
    }
  }

  @Test
  void whatIsThereKeepsItsPermissions() throws IOException {
    Path data = Files.createDirectory(top.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (Store store = Store.open(data, options(FileAccess.OWNER))) {
      write(store);
    }
    Path table;
    try (Stream<Path> files = Files.list(data)) {
      table = files.filter(file -> file.toString().endsWith(".sst")).findFirst().orElseThrow();
    }
    for (Path file : new Path[] {table, data.resolve("LOCK")}) {
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    }
    Store.open(data, options(FileAccess.OWNER)).close();
    assertEquals("rwxr-xr-x", mode(data));
    assertEquals("rw-r--r--", mode(table));
    assertEquals("rw-r--r--", mode(data.resolve("LOCK")));
    assertTrue(Files.exists(data.resolve("RING")));
    assertEquals("rw-------", mode(data.resolve("RING")));
  }
}
