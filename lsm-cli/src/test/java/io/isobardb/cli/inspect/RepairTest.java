package io.isobardb.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.Main;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RepairTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.builder().memoryBudget(8 << 20).pageSize(4096).build();

  @TempDir Path temporary;
  private Path dir = Path.of("");
  private Path fresh = Path.of("");
  private String out = "";
  private String err = "";

  @BeforeEach
  void makeStore() {
    dir = temporary.resolve("s");
    fresh = temporary.resolve("repaired");
    try (Store store = Store.open(dir, OPTIONS)) {
      Tree users = store.openTree("users");
      for (int i = 100; i < 600; i++) {
        users.put(("user" + i).getBytes(UTF_8), "value".repeat(i / 20).getBytes(UTF_8));
      }
      store.flush();
      users.put("user599".getBytes(UTF_8), "again".getBytes(UTF_8));
    }
  }

  private int repair(String... more) {
    StringWriter outText = new StringWriter();
    StringWriter errText = new StringWriter();
    CommandLine commandLine = Main.commandLine();
    commandLine.setOut(new PrintWriter(outText));
    commandLine.setErr(new PrintWriter(errText));
    List<String> args =
        Stream.concat(
                Stream.of("repair", dir.toString(), "--to", fresh.toString()), Stream.of(more))
            .toList();
    int code = commandLine.execute(args.toArray(String[]::new));
    out = outText.toString();
    err = errText.toString();
    return code;
  }

  private List<Path> files(String prefix, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files
          .filter(f -> f.getFileName().toString().startsWith(prefix))
          .filter(f -> f.toString().endsWith(suffix))
          .sorted()
          .toList();
    }
  }

  private Map<String, byte[]> contents() throws IOException {
    Map<String, byte[]> contents = new TreeMap<>();
    for (Path file : files("", "")) {
      if (!file.endsWith("LOCK")) {
        contents.put(file.toString(), Files.readAllBytes(file));
      }
    }
    return contents;
  }

  @Test
  void ofASoundStoreNothingIsLostAndItStaysAsItIs() throws IOException {
    Map<String, byte[]> before = contents();
    assertEquals(0, repair(), out + err);
    assertTrue(out.contains("tree 'users': 500 keys"), out);
    assertTrue(out.endsWith("nothing lost\n"), out);
    Map<String, byte[]> after = contents();
    assertEquals(before.keySet(), after.keySet());
    before.forEach((name, content) -> assertArrayEquals(content, after.get(name), name));
    try (Store store = Store.open(fresh, OPTIONS)) {
      Tree users = store.tree("users");
      assertArrayEquals("again".getBytes(UTF_8), users.get("user599".getBytes(UTF_8)));
      users.put("user599".getBytes(UTF_8), "once more".getBytes(UTF_8));
      store.flush();
      assertArrayEquals("once more".getBytes(UTF_8), users.get("user599".getBytes(UTF_8)));
    }
  }

  @Test
  void aLostPageIsToldOfWithItsKeys() throws IOException {
    Path table = files("", ".sst").get(0);
    byte[] content = Files.readAllBytes(table);
    content[3 * 4096 + 1000] ^= 1;
    Files.write(table, content);
    assertEquals(1, repair("--json"), out + err);
    Map<String, Object> report = JSON.std.mapFrom(out);
    assertEquals(false, report.get("complete"));
    String losses = report.get("losses").toString();
    assertTrue(losses.contains(table.getFileName() + ", from=12288, to=16384"), losses);
    assertTrue(losses.contains("tree=users, afterKey=user"), losses);
    assertEquals(1, repairAgain(), out + err);
    assertTrue(out.contains("LOST: " + table + ", bytes 12288 to 16384"), out);
    assertTrue(out.endsWith("1 part may be lost\n"), out);
  }

  private int repairAgain() {
    fresh = temporary.resolve("repaired-again");
    return repair();
  }

  @Test
  void withoutAManifestTheTreesKeepTheirNames() throws IOException {
    for (Path file : files("MANIFEST", "")) {
      Files.delete(file);
    }
    Files.delete(dir.resolve("CURRENT"));
    assertEquals(1, repair(), out + err);
    assertTrue(out.contains("LOST: the manifest"), out);
    assertTrue(out.contains("tree 'users': 500 keys"), out);
  }

  @Test
  void whatCanNotBeRepairedLeavesNothingBehind() throws IOException {
    for (Path file : files("", "")) {
      Files.write(file, new byte[100]);
    }
    assertEquals(4, repair(), out + err);
    assertTrue(err.contains("not possible"), err);
    assertFalse(Files.exists(fresh));
    Files.createDirectories(fresh);
    assertEquals(4, repair(), "an empty directory may be there: " + out + err);
    Files.write(fresh.resolve("file"), new byte[0]);
    assertEquals(2, repair(), out + err);
    assertTrue(err.contains("is not empty"), err);
  }

  @Test
  void aStoreThatIsOpenIsRefused() {
    try (Store store = Store.open(dir, OPTIONS)) {
      assertEquals(3, repair(), out + err);
      assertTrue(err.contains("open already"), err);
      assertFalse(Files.exists(fresh));
      assertEquals(List.of("users"), store.treeNames());
    }
  }
}
