package io.isobardb.bench.inspect;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.bench.console.ByteSize;
import io.isobardb.bench.console.Progress;
import io.isobardb.lsm.Store;
import io.isobardb.lsm.error.CorruptionException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.recovery.CheckReport;
import io.isobardb.lsm.recovery.StoreInspector;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code check}: is everything in the store's files as it must be? */
@Command(
    name = "check",
    description = "Checks every page, record, order and reference of a store that is not open.",
    footer = {
      "",
      "Changes nothing. Exit code: 0 if the store is sound, 1 if something is wrong or the store",
      "can't be read, 2 for wrong usage. Notes tell of what a crash left behind; they are harmless."
    })
public final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    CheckReport report;
    try (Progress progress = Progress.onStandardError();
        StoreInspector inspector = Store.inspect(store.directory(), store.options())) {
      report =
          inspector.check(
              (what, done, total) ->
                  progress.update(
                      "checking "
                          + what
                          + ": "
                          + ByteSize.format(done)
                          + " of "
                          + ByteSize.format(total)));
    } catch (CorruptionException e) {
      // Without its manifest there is no more of the store to look at.
      report = new CheckReport(List.of(Finding.of(e.file(), e)), List.of(), 0, 0, 0, 0, 0, 0, 0);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(json ? json(report) : text(report));
    out.flush();
    return report.isSound() ? 0 : 1;
  }

  private static String text(CheckReport report) {
    StringBuilder text = new StringBuilder();
    report.notes().forEach(note -> text.append("note: ").append(note).append('\n'));
    report.findings().forEach(finding -> text.append("WRONG: ").append(finding).append('\n'));
    text.append(
        String.format(
            "%d trees, %d SSTables (%s, %,d pages, %,d entries), log of %s (%,d operations)%n",
            report.trees(),
            report.tables(),
            ByteSize.format(report.tableBytes()),
            report.pages(),
            report.entries(),
            ByteSize.format(report.logBytes()),
            report.logOperations()));
    int count = report.findings().size();
    return text.append(count == 0 ? "sound\n" : count + (count == 1 ? " finding\n" : " findings\n"))
        .toString();
  }

  private static String json(CheckReport report) throws IOException {
    List<Map<String, Object>> findings = new ArrayList<>();
    for (Finding finding : report.findings()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("file", finding.file());
      one.put("offset", finding.offset());
      one.put("what", finding.what());
      findings.add(one);
    }
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("sound", report.isSound());
    all.put("findings", findings);
    all.put("notes", report.notes());
    all.put("trees", report.trees());
    all.put("tables", report.tables());
    all.put("pages", report.pages());
    all.put("entries", report.entries());
    all.put("tableBytes", report.tableBytes());
    all.put("logOperations", report.logOperations());
    all.put("logBytes", report.logBytes());
    return JSON.std.asString(all) + "\n";
  }
}
