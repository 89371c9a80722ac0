package io.isobardb.bench.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.bench.Isobar;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Tag("any-jdk")
class ModelCommandTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String line) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(("model " + line).split(" +"));
  }

  @Test
  void levelDbsCostIsThePapers() {
    assertEquals(0, run("--keys 100M --skew 0 --item 1000"));
    assertTrue(out.toString().matches("(?s).*\nall +25\\.83 +47\\.16\n.*"), out.toString());
  }

  @Test
  void figuresAreATable() {
    assertEquals(0, run("--figures --keys 100M"), err.toString());
    String all = out.toString();
    for (String line :
        List.of(
            "| 4 | uniform: keys in 1.0 requests for each, in % | 63.212 |  |  |",
            "| 8 | uniform | 25.835 |  |  |", "| 9 | uniform, worst case | 47.162 |  |  |")) {
      assertTrue(all.contains("\n" + line + "\n"), all);
    }
    for (String figure : List.of("10", "11", "12, 13", "table 1", "14", "15", "16", "17", "3.5")) {
      assertTrue(all.contains("\n| " + figure + " | "), figure + " is missing: " + all);
    }
  }

  @Test
  void optimisedSizesAreShownWithWhatTheyCost() {
    assertEquals(0, run("--keys 1e6 --optimise --max-space 1.15 --max-levels 3"));
    assertTrue(out.toString().contains("levels, optimised: "), out.toString());
  }

  @Test
  void optimisedSizesKeepABoundOnReads() {
    String line = "--keys 1e8 --skew 0 --optimise --json";
    assertEquals(0, run(line));
    Matcher reads = Pattern.compile("\"pagesPerRead\":([0-9.]+)").matcher(out.toString());
    assertTrue(reads.find() && reads.find(), out.toString());
    double free = Double.parseDouble(reads.group(1));
    double best = total();
    double most = free - 0.5;
    assertEquals(0, run(line + " --max-reads " + most));
    reads = Pattern.compile("\"pagesPerRead\":([0-9.]+)").matcher(out.toString());
    assertTrue(reads.find() && reads.find(), out.toString());
    assertTrue(Double.parseDouble(reads.group(1)) <= most, out.toString());
    Matcher totals = Pattern.compile("optimised\",\"total\":([0-9.]+)").matcher(out.toString());
    assertTrue(totals.find(), out.toString());
    assertTrue(Double.parseDouble(totals.group(1)) > 23.67, out + " and " + best);
    assertEquals(2, run(line + " --max-reads 1"));
    assertTrue(err.toString().contains("within the bounds"), err.toString());
    assertEquals(2, run(line + " --max-reads 0"));
  }

  @ParameterizedTest
  @CsvSource({"'', 2", "--flush-whole, 2", "--trees 5 --memory-weight 1, 2"})
  void ourDesignIsModelledAndSimulated(String options, int levels) {
    String line = "--design isobar --keys 60k --write-memory 1MB --log-limit 4MB --simulate ";
    assertEquals(0, run(line + options));
    assertTrue(
        out.toString().matches("(?s).*\nmerges into level " + levels + " +[0-9.]+ +[0-9.]+\n.*"),
        out.toString());
    assertTrue(
        out.toString().matches("(?s).*\npages per read, no cache +0.\\d\\d +0.\\d\\d\n.*"),
        out.toString());
  }

  private double total(String line) {
    out.getBuffer().setLength(0);
    assertEquals(0, run(line), err.toString());
    Matcher all = Pattern.compile("\nall .* ([0-9.]+)\n").matcher(out.toString());
    assertTrue(all.find(), out.toString());
    return Double.parseDouble(all.group(1));
  }

  @Test
  void memoryThatIsNotFullCostsMore() {
    String line = "--design isobar --keys 1e6 --write-memory 20MB --memory-used ";
    double full = total(line + 87);
    assertTrue(total(line + 60) > 1.03 * full, out.toString());
    assertEquals(2, run(line + 0));
    assertEquals(2, run(line + 101));
    assertTrue(err.toString().contains("--memory-used must be above 0"), err.toString());
  }

  @Test
  void differentKeysAreCounted() {
    assertEquals(0, run("--keys 1000 --item 100 --skew 0 --distinct 1,1000,1e6"));
    assertTrue(out.toString().contains("\n1 writes have 1 different keys\n"), out.toString());
    // 1000 (1 - 0.999^1000)
    assertTrue(out.toString().contains("\n1,000 writes have 632 different"), out.toString());
    assertTrue(out.toString().contains("\n1,000,000 writes have 1,000 diff"), out.toString());
    assertEquals(0, run("--keys 1000 --item 100 --skew 0 --distinct 1000 --json"));
    assertTrue(out.toString().contains("\"unique\":[{"), out.toString());
  }

  @Test
  void runsAreModelled() {
    assertEquals(0, run("--runs 4,4,1 --keys 1M --skew 0"), err.toString());
    String text = out.toString();
    assertTrue(text.contains("\n4,4,1 "), text);
    String parts = "\nflushes 1.00, merges into tiers 0.99 + 0.89 + 0.81, merges into levels 3.11";
    assertTrue(text.contains(parts), text);
    assertTrue(text.contains("scan of 1,000"), text);
    out.getBuffer().setLength(0);
    assertEquals(0, run("--runs LAZY(4) --design isobar --keys 1M --skew 0 --json"));
    assertTrue(out.toString().contains("\"runs\":\"LAZY(4)\""), out.toString());
    assertTrue(out.toString().contains("\"scan1000\":"), out.toString());
  }

  private List<String> advised(String line) {
    out.getBuffer().setLength(0);
    assertEquals(0, run("--advise --keys 1M --skew 0 --write-memory 16MB " + line), err.toString());
    List<String> lines = out.toString().lines().toList();
    int table = IntStream.range(0, lines.size()).filter(i -> lines.get(i).startsWith("--")).sum();
    return lines.subList(table + 1, lines.size());
  }

  @Test
  void theBestPolicyOfRunsComesFirst() {
    List<String> writes = advised("--writes 100 --gets 0 --absent 0 --scans 0");
    assertEquals(7, writes.size());
    assertTrue(writes.get(6).startsWith("LEVELED"), writes::toString);
    List<String> scans = advised("--writes 0 --gets 0 --absent 0 --scans 100 --scan-length 10");
    assertTrue(scans.get(6).matches("(LAZY|TIERED)\\(8\\) .*"), scans::toString);
    List<String> cheapWrites =
        advised("--writes 90 --gets 0 --absent 0 --scans 10 --write-weight 0");
    assertEquals(scans.get(0).split(" ")[0], cheapWrites.get(0).split(" ")[0]);
    assertEquals(8, advised("--runs 8,8,1").size());
  }

  @ParameterizedTest
  @CsvSource({
    "'--advise --writes 60', 'must add up to 100, not 110'",
    "'--advise --writes -10 --gets 110 --absent 0 --scans 0', 'must be 0 or more'",
    "'--advise --scan-length 0', '--scan-length must be 1 or more, not 0'",
    "'--advise --write-weight -1', '--write-weight must be 0 or more, not -1'",
    "'--advise --max-space 1', '--max-space must be more than 1, not 1'",
    "'--advise --filter-bits 25', '--filter-bits must be 0 to 24, not 25'",
    "'--advise --item 9000', 'does not fit into a --page of'",
    "'--advise --simulate', '--advise and --simulate exclude each other'",
    "'--runs 1,4', 'runs may not rise with depth, but 4 follows 1'",
    "'--runs 4,0', 'a level may have 1 to 32 runs, not 0'",
    "'--runs LAZY', 'runs are LEVELED, LAZY(4), TIERED(4) or a list'",
    "'--runs 4,1 --design samt', '--runs is for --design isobar'",
    "'--gets 30', '--gets is for --advise'",
    "'--filters-alike', '--filters-alike is for --runs or --advise'",
  })
  void badQuestionsOfRunsAreOneLine(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err.toString());
    assertEquals(1, err.toString().lines().count(), err.toString());
  }

  @Test
  void theLargestTableFirstCostsMore() {
    String line = "--keys 30k --item 1000 --skew 0.99 --write-memory 100KB --levels 1MB --simulate";
    double nextFirst = total(line);
    assertTrue(total(line + " --largest-first") > 1.05 * nextFirst, out.toString());
    assertEquals(2, run("--keys 30k --largest-first"));
    assertTrue(err.toString().contains("with --simulate"), err.toString());
  }

  @Test
  void sourcesAndPagesAreInTheJson() {
    assertEquals(0, run("--design isobar --keys 1e9 --write-memory 1GB --json"));
    assertTrue(out.toString().contains("\"withinL0\":0.0"), out.toString());
    assertTrue(out.toString().contains("\"pagesPerRead\":0."), out.toString());
  }

  @Test
  void recordedKeysTellTheSameAsTheirPopularity(@TempDir Path dir) throws IOException {
    int keys = 20_000;
    SplittableRandom random = new SplittableRandom(1);
    Path file = dir.resolve("keys");
    try (BufferedWriter lines = Files.newBufferedWriter(file)) {
      for (int i = 0; i < 20 * keys; i++) {
        lines.write("user" + random.nextInt(keys) + "\n");
      }
    }
    String sizes = " --item 1000 --write-memory 1MB --json --design ";
    for (String design : List.of("isobar", "leveldb")) {
      assertEquals(0, run("--keys 20k --skew 0" + sizes + design));
      double known = total();
      assertEquals(0, run("--keys-from " + file + sizes + design));
      assertEquals(1, total() / known, 0.03, design);
    }
  }

  @Test
  void aStoreIsShownBesideItsModel(@TempDir Path dir) throws IOException {
    StoreOptions options =
        ExperimentalOptions.set(
                StoreOptions.builder().memoryBudget(8 << 20).writeMemory(1 << 20),
                // As the model has it, so that both have two levels.
                e -> e.levelSizeRatio(10))
            .build();
    try (Store store = Store.open(dir, options)) {
      Tree tree = store.openTree("people");
      store.openTree("empty");
      for (int i = 0; i < 40_000; i++) {
        tree.put(String.format("key%08d", i * 7919 % 40_000).getBytes(UTF_8), new byte[400]);
      }
      store.flush();
      tree.compact(null, null);
    }
    String line = dir + " --skew 0 --write-memory 1MB";
    assertEquals(0, run(line), err.toString());
    String text = out.toString();
    assertTrue(text.contains(": 1 tree with levels"), text);
    assertTrue(text.contains("people: 40,000 entries of "), text);
    assertTrue(text.contains("is not known: empty\n"), text);
    assertTrue(text.matches("(?s).*\nL2 +[0-9.]+ MB +[0-9.]+ MB +[0-9.]+\n.*"), text);
    out.getBuffer().setLength(0);
    assertEquals(0, run(line + " --json"));
    assertTrue(out.toString().contains("\"name\":\"people\",\"entries\":40000"), out.toString());
    out.getBuffer().setLength(0);
    assertEquals(2, run(dir + " --keys 1000"));
    assertTrue(err.toString().contains("DIR and --keys exclude each other"), err.toString());
    assertEquals(2, run(dir + " --skew -1"));
    assertEquals(2, run(dir + " --max-space 1.2"));
    // Nothing but the active SSTable would have room.
    assertEquals(2, run(dir + " --write-memory 4MB --memory-used 1"), err.toString());
    assertEquals(0, run(line + " --memory-used 40 --json"), err.toString());
    double less = total();
    assertEquals(0, run(line + " --memory-used 80 --json"), err.toString());
    assertTrue(less > total());
    assertTrue(run(dir.resolve("none") + " --skew 0") > 0);
  }

  private double total() {
    Matcher total = Pattern.compile("\"total\":([0-9.]+)").matcher(out.toString());
    assertTrue(total.find(), out.toString());
    out.getBuffer().setLength(0);
    return Double.parseDouble(total.group(1));
  }

  @Test
  void fewOrAllNewKeysTellNothing(@TempDir Path dir) throws IOException {
    Path few = Files.writeString(dir.resolve("few"), "a\nb\n");
    assertEquals(2, run("--keys-from " + few));
    assertTrue(err.toString().contains("needs 1,000 writes or more, and"), err.toString());
    String all = IntStream.range(0, 2000).mapToObj(i -> "k" + i).collect(Collectors.joining("\n"));
    assertEquals(2, run("--keys-from " + Files.writeString(dir.resolve("new"), all)));
    assertTrue(err.toString().contains("hardly any key"), err.toString());
  }

  @ParameterizedTest
  @CsvSource({"universal, universal", "cola, COLA", "samt, SAMT"})
  void otherDesignsAreModelledAndSimulated(String design, String name) {
    assertEquals(0, run("--simulate --keys 100k --json --design " + design));
    assertTrue(out.toString().contains("\"name\":\"" + name + "\""), out.toString());
    assertTrue(out.toString().contains("\"name\":\"simulated\""), out.toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--keys 1 | from 2 to 1,000,000,000,000, not 1",
        "--keys 2e12 | from 2 to 1,000,000,000,000",
        "--keys many | 'many' is not a number",
        "--skew -1 | skew must be 0 or more, not -1.0",
        "--levels 1g,10m | ascend",
        "--design cola --optimise | for --design leveldb",
        "--design lsm | 'lsm' is none of isobar, leveldb, universal, cola, samt",
        "--write-memory 10 | must hold one --item or more",
        "--optimise --max-levels 99 | --max-levels must be 1 to 16",
        "--optimise --max-space 0.5 | space must be more than 1",
        "--simulate --keys 1e9 | at most 200,000,000 keys",
        "--design samt --growth 1 | --growth must be 2 or more",
        "--figures --skew 1 | --figures and --skew exclude each other",
        "--figures --keys 10k | at least 100,000 keys, not 10,000",
        "--keys-from nowhere | nowhere is no file that can be read",
        "--keys-from nowhere --skew 1 | --keys-from and --skew exclude each other",
        "--design isobar --trees 0 | --trees must be 1 or more",
        "--design isobar --trees 60000 --keys 60k | from 2 to 1,000,000,000,000, not 1",
        "--design isobar --memory-weight 0.5 | must be from 1 to 100, not 0.5",
        "--design isobar --write-memory 100k | write memory must have 1 MB or more",
        "--design isobar --write-memory 32m --log-limit 1m | the log no less"
      })
  void whatCanNotBeIsWrongUsage(String line, String message) {
    assertEquals(2, run(line));
    assertTrue(err.toString().contains(message), err.toString());
  }
}
