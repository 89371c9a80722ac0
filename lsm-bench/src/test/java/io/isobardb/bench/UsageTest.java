package io.isobardb.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.isobardb.cli.console.Exit;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@Tag("any-jdk")
class UsageTest {
  @TempDir Path temp;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... args) {
    CommandLine commandLine = Isobar.commandLine();
    commandLine.setOut(new PrintWriter(out));
    commandLine.setErr(new PrintWriter(err));
    return commandLine.execute(args);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "compare --records -1 | --records must be 1 or more, not -1",
        "compare --records 1e6 | '1e6' is not a whole number",
        "compare --records 99999999999 | '99999999999' is too large",
        "compare --operations 0 | --operations must be 1 or more",
        "compare --threads 0 | --threads must be 1 to 1,024, not 0",
        "compare --repeats 0 | --repeats must be 1 or more",
        "compare --duration 0 | --duration must be longer than 0",
        "compare --duration -1s | '-1s' is not a duration",
        "compare --memory -5MB | '-5MB' is not a size",
        "compare --memory 1KB | --memory must be 4 MB or more, not 1 KB",
        "compare --key-size 4 | --key-size must be 8 to 500",
        "compare --value-size 2MB | --value-size must be 0 to 1,048,576",
        "compare --warm-up -1 | --warm-up must be 0 or more",
        "compare --phases load,wirte | 'wirte' is none of load, read",
        "compare --io fast | 'fast' is none of direct, buffered",
        "compare --engines isobar --baseline lmdb | not among --engines",
        "compare --engines rockdb | no engine named 'rockdb'",
        "compare --memory-of MVStore=8MB --engines isobar | mvstore is not among --engines",
        "compare --memory-of lmdb=8MB --engines isobar,lmdb | page cache, which has no limit here",
        "compare --engines isobar,rocksdb,Isobar | --engines names isobar twice",
        "compare --phases read,zipf,read | --phases names read twice",
        "compare --engines rocksdb --runs 4 | --runs is for isobar",
        "compare --engines lmdb --max-space 2 | --max-space is for isobar",
        "ycsb --workload a --engine lmdb -p isobar.store.pageSize=4096 | is for isobar",
        "streams --engine isobar --memory-of rocksdb-limited=64MB | not among --engine",
        "streams --memory-of rocksdb=64MB | rocksdb has no limit",
        "streams --engine isobar,isobar | --engine names isobar twice",
        "streams --profile restore --steps get | --steps is for the profiles many and cached",
        "latency --clock real --processors 4 | --processors is there in virtual time alone",
        "backup here --rate 5MB | --rate is for a backup that is made: give --of, too",
        "ycsb | missing required option",
        "ycsb --workload z | there is no workload 'z'",
        "ycsb --workload a --records -1 | --records must be 1 or more, not -1",
        "ycsb --workload a --operations 0 | --operations must be 1 or more",
        "ycsb --workload a --threads 0 | --threads must be 1 to 1,024, not 0",
        "ycsb --workload a --trees 0 | --trees must be 1 to 10,000",
        "ycsb --workload a --hot 80 | --hot must be two percentages, such as 80:20, not '80'",
        "ycsb --workload a --hot 80:0 | --hot's second share must be 1 to 100, not 0",
        "ycsb --workload a --hot 180:20 | --hot's first share must be 1 to 100, not 180",
        "ycsb --workload a --target -1 | --target must be 0 or more",
        "ycsb --workload a --memory 0 | --memory must be 4 MB or more",
        "ycsb --workload a -p records | 'records' is not NAME=VALUE",
        "ycsb --workload a --no-load | --no-load needs --dir",
        "tpcc --warehouses 0 | --warehouses must be 1 to 1,000,000, not 0",
        "tpcc --terminals 0 | --terminals must be 1 to 10,000",
        "tpcc --duration 0s | --duration must be longer than 0",
        "tpcc --memory 1MB | --memory must be 8 MB or more",
        "tpcc --kill-test 0 | --kill-test must be 1 or more",
        "tpcc --scale 0 | --scale must be above 0",
        "tpcc --scale NaN | 'NaN' is not a number",
        "tpcc --engine h2 | no engine named 'h2'",
        "crash-test | which crashes?",
        "crash-test --cycles 0 | --cycles must be 1 or more",
        "crash-test --cycles -3 | --cycles must be 1 or more",
        "crash-test --simulated --seeds 0 | --seeds must be 1 or more",
        "crash-test --simulated --stride 0 | --stride must be 1 or more",
        "crash-test --simulated --survival most | 'most' is none of",
        "crash-test --faults | which crashes?",
        "crash-test --backups 0 | --backups must be",
        "experiment | missing required parameter",
        "experiment thrash --threads 0 | --threads must be 1 to 1,024",
        "experiment thrash --scale -1 | --scale must be above 0 and at most 1, not -1",
        "experiment thrash --only trees | 'trees' is not PARAMETER=VALUE",
        "experiment no-such-thing | no experiment 'no-such-thing'; 'isobar experiment list' shows all",
        "experiment trash | there is no experiment 'trash'; did you mean 'thrash'?",
        "model --keys 1 | from 2 to",
        "model --item 0 | --item must be 1 B or more",
        "model --max-levels 0 --optimise | --max-levels must be 1 to 16, not 0",
        "model --tables 1 --design universal | --tables must be 2 or more",
        "model --skew x | 'x' is not a number",
        "tune --workload a --metric p99 | missing required option: '--knobs=KNOBS'",
        "tune --workload stedy --metric p99 --knobs maxSpace=1.1..2 | did you mean 'steady'?",
        "tune --workload a --metric p98 --knobs maxSpace=1.1..2 | did you mean 'p99'?",
        "tune --workload steady --metric throughput --knobs maxSpace=1.1..2 | at a rate of their own",
        "tune --workload simulated-uniform --metric p99 --knobs maxSpace=1.1..2 | have no time",
        "tune --workload c --metric written --knobs maxSpace=1.1..2 | it writes nothing",
        "tune --workload ycsb-c --metric written --knobs maxSpace=1.1..2 | it writes nothing",
        "tune --workload a --metric p99 --knobs maxSpase=1.1..2 | did you mean 'maxSpace'?",
        "tune --workload a --metric p99 --knobs maxSpace=2..1.1 | upside down",
        "tune --workload a --metric p99 --knobs maxSpace=1..2 | maxSpace must be from 1.01 to 10",
        "tune --workload a --metric p99 --knobs writeMemory=1MB..1GB | writeMemory=1GB: ",
        "tune --workload a --metric p99 --knobs experiment.l0StopGroups=2..9 | l0StopGroups=2: ",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --where space | is no condition",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --where spase<2 | mean 'space'?",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --where space<0 | can't be",
        "tune --workload c --metric p99 --knobs maxSpace=1.1..2 --where written<1KB | writes nothing",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --evaluations 3 | must be 4 to 1,000",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --method best | is none of gp, forest",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --scale 0 | --scale must be above 0",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --timeout 0 | longer than 0",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --option maxSpace=2 | is a knob, too",
        "tune --workload a --metric p99 --knobs maxSpace=1.1..2 --option levles=1 | did you mean",
        "soak --duration 0 | --duration must be longer than 0",
        "soak --hours 0 | --hours must be longer than 0",
        "soak --hours -1 | is not a duration",
        "soak --hours 1 --duration 1m | give one of them",
        "soak --memory 8MB | --memory must be 12 MB or more, not 8 MB",
        "soak --threads 0 | --threads must be 1 to 500",
        "soak --trees 101 | --trees must be 1 to 100",
        "soak --keys 0 | --keys must be 1 to 1,048,576",
        "soak --report 0 | --report must be longer than 0",
        "latency --load prodution | did you mean 'production'?",
        "latency --rate 0 | --rate must be 1 to 10,000,000, not 0",
        "latency --duration 0 | --duration must be longer than 0",
        "latency --threads 0 | --threads must be 1 to 1,024, not 0",
        "latency --processors 0 | --processors must be 1 to 1,024, not 0",
        "latency --records 0 | --records must be 1 or more",
        "latency --records 50000000 | give fewer --records",
        "latency --memory 1MB | --memory must be 8 MB or more, not 1 MB",
        "latency --device fast | --device must be unlimited or a size per second",
        "latency --device 1KB | --device must be 1 MB or more, not 1 KB",
        "latency --device-writes 1KB | --device-writes must be 1 MB or more, not 1 KB",
        "latency --background 1KB | --background must be 1 MB or more, not 1 KB",
        "latency --mix 50:40 | --mix must be percentages",
        "latency --value-size 8 | --value-size must be 16 to 65,536, not 8",
        "latency --value-size 100:50:200 | --value-size must be 100 to 65,536, not 50",
        "latency --value-size 1:2 | --value-size must be 400 or 250:400:1024",
        "latency --batch 0 | --batch must be 1 to 10,000, not 0",
        "latency --scan 0 | --scan must be 1 to 100,000, not 0",
        "latency --burst 0 | --burst must be longer than 0",
        "latency --burst-count 0 | --burst-count must be 1 or more",
        "latency --burst 1s --rate 5 | --rate is for loads with a rate of their own",
        "latency --burst 1s --load steady | --load and --burst say the same",
        "latency --engine rocksdb --option ioMode=BUFFERED | --option ioMode is for Isobar",
        "latency --engine rocksdb --schedule ALWAYS | --schedule is for Isobar",
        "latency --load-file . | --load-file: . is a directory",
        "phases --option foo | 'foo' is not NAME=VALUE",
        "phases --option foo=1 | unknown option foo",
        "phases --option ioMode=fast | ioMode",
        "phases --memory 1KB | memoryBudget must be at least 4MB",
        "phases --file . | --file: . is a directory",
        "phases --file none | --file: there is no file none",
        "range-deletes --entries 100 --ranges 10 | --entries must be more than 10 for each of",
        "latency --load-file none | --load-file: there is no none",
        "latency --clock wall | 'wall' is none of",
        "latency --clock real --engine isobar-free | in virtual time alone",
        "latency --clock virtual --engine rocksdb | there for Isobar alone; use --clock real",
        "latency --engine rocksdb-autotuned --device unlimited | give --background or --device",
        "latency --clock real --background 20MB | limit Isobar with --option ioBandwidth=SIZE",
        "latency --engine rockdb | no engine named 'rockdb'",
        "latency --option l0StartGruops=3 | did you mean",
        "latency --option experiment.l0StartGroups=0 | experiment.l0StartGroups must be",
        "latency --schedull ALWAYS | --schedule",
        "demo --pace 0 | --pace must be above 0",
        "range-deletes --entries -4 | --entries must be 1 or more, not -4",
        "range-deletes --megabytes 0 | --megabytes must be 1 to",
        "range-deletes --ranges 0 | --ranges must be 1 to",
        "streams --profile cashed | no profile named 'cashed'; there are many, cached",
        "streams --engine rockdb | no engine named 'rockdb'; there are isobar, rocksdb",
        "streams --steps puts | no step named 'puts'; there are get, put",
        "streams --stores 3 | --stores must be 1, or 2 for each of the 2 threads",
        "streams --stores 0 | --stores must be 1 to 100,000, not 0",
        "streams --partitions 0 | --partitions must be 1 to 10,000, not 0",
        "streams --threads 0 | --threads must be 1 to 1,024, not 0",
        "streams --memory 8MB | --memory must be 16 MB or more, not 8 MB",
        "streams --memory-of lmdb=1GB | no engine named 'lmdb'",
        "streams --heap 8MB | --heap must be 64 MB or more, not 8 MB",
        "streams --profile restore --records 10 | --records must be 1,000 to",
        "streams --value-size 2MB | --value-size must be 0 to 1,048,576",
        "streams --duration 0 | --duration must be longer than 0",
        "streams --commit-every 0 | --commit-every must be longer than 0",
        "streams --repeats 0 | --repeats must be 1 or more",
        "streams --partition 3 | --partitions",
        "soka | did you mean soak",
        "help gte | unknown subcommand 'gte'",
        "compare --memory-of x | '--memory-of': 'x' is not NAME=SIZE",
        "model --levels 5MB,4MB | --levels must ascend, and 4 MB does not",
      })
  void wrongUsageIsOneLineForPeople(String line, String said) {
    assertEquals(2, run(line.split(" ")), err.toString());
    String text = err.toString();
    assertTrue(text.contains(said), text);
    assertEquals("", out.toString());
    assertEquals(1, text.lines().count(), text);
    assertTrue(text.matches("isobar( [a-z-]+)?: .*\\(see 'isobar( [a-z-]+)? --help'\\)\\R"), text);
    assertFalse(text.contains("java") || text.contains("Exception"), text);
  }

  /** As of a shell's variable that is not set. */
  @Test
  void anEmptyPathIsNotTheCurrentDirectory() {
    List<List<String>> lines =
        List.of(
            List.of("load", "", "--create", "--tree", "t"),
            List.of("check", ""),
            List.of("soak", "--dir", ""),
            List.of("compare", "--html", ""));
    for (List<String> line : lines) {
      err.getBuffer().setLength(0);
      assertEquals(2, run(line.toArray(String[]::new)), line + ": " + err);
      assertTrue(err.toString().contains("the path is empty; . is"), err.toString());
    }
  }

  @Test
  void theHelpOfEachCommandEndsWithTheExitCodes() {
    for (String command : Isobar.commandLine().getSubcommands().keySet()) {
      assertEquals(0, run(command, "--help"));
      for (Exit exit : Exit.values()) {
        assertTrue(out.toString().contains("  " + exit.code() + "   "), out.toString());
      }
      out.getBuffer().setLength(0);
    }
  }

  @Test
  void aDirectoryThatCanNotBeMadeIsAFailureInALine() throws Exception {
    Path file = Files.writeString(temp.resolve("file"), "no directory");
    assertEquals(4, run("ycsb", "--workload", "a", "--dir", file.toString()));
    assertTrue(
        err.toString().startsWith("isobar ycsb: " + file + " exists already"), err::toString);
    assertEquals(1, err.toString().lines().count());
  }

  @Test
  void propertiesOfARunThatThereAreNotAreWrongUsage() {
    for (String property :
        List.of("isobar.store.pageSise=8KB", "isobar.store.pageSize=7", "isobar.bogus=1")) {
      err.getBuffer().setLength(0);
      assertEquals(2, run("ycsb", "--workload", "a", "-p", property), property);
      assertTrue(err.toString().contains(property.replaceAll(".*\\.|=.*", "")), err::toString);
    }
  }
}
