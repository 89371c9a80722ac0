package io.isobardb.cli.inspect;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.JsonOption;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.Progress;
import io.isobardb.cli.console.UsageException;
import io.isobardb.lsm.error.Finding;
import io.isobardb.lsm.error.IsobarException;
import io.isobardb.lsm.inspect.CheckProgress;
import io.isobardb.lsm.inspect.CheckReport;
import io.isobardb.lsm.inspect.RepairReport;
import io.isobardb.repair.StoreInspector;
import io.isobardb.repair.StoreRepair;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code repair}: what can be saved of a damaged store? */
@Command(
    name = "repair",
    description = "Makes a new store of what can be read of a damaged one.",
    footer = {
      "",
      "The damaged store is left as it is. Of each key the newest version that any file holds is"
          + " taken; what can't be read is told of by file, offset and range of keys. Keys in such a"
          + " range may be missing, or have older values. If the manifest can't be read, all files"
          + " count, and nobody knows whether one is missing. The new store is checked before this"
          + " ends. Exit code 1 says that something may be lost. If the repair fails, nothing is"
          + " left in NEWDIR."
    })
public final class RepairCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private StoreArgument store = new StoreArgument();

  @Option(
      names = "--to",
      paramLabel = "NEWDIR",
      required = true,
      description = "Where the new store goes; must be empty, or not exist.")
  private Path target = Path.of("");

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    Path directory = store.directory();
    target = target.toAbsolutePath().normalize();
    Target.checkDirectory(target);
    RepairReport report;
    List<Finding> findings;
    try (Progress progress = Progress.onStandardError()) {
      report =
          UsageException.ofArguments(
              () ->
                  StoreRepair.run(
                      directory,
                      target,
                      store.options(),
                      (what, done, total) ->
                          progress.update(
                              "repairing " + what + ": " + done + " of " + total, done, total)));
      progress.update("checking the new store");
      findings = check();
    } catch (IsobarException | UncheckedIOException e) {
      Exit exit = Exit.of(e) == Exit.REFUSED ? Exit.REFUSED : Exit.FAILURE;
      throw new FailedException(exit, "not possible: " + e.getMessage(), e);
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print(json.isGiven() ? json(report, findings) : text(directory, report, findings));
    out.flush();
    Exit exit =
        !findings.isEmpty() ? Exit.FAILURE : report.isComplete() ? Exit.SUCCESS : Exit.FINDING;
    return exit.code();
  }

  private List<Finding> check() throws IOException {
    try (StoreInspector inspector =
        UsageException.ofArguments(() -> StoreInspector.open(target, store.options()))) {
      CheckReport report = inspector.check(CheckProgress.NONE);
      return report.findings();
    }
  }

  private static String text(Path directory, RepairReport report, List<Finding> findings) {
    StringBuilder text = new StringBuilder();
    report.notes().forEach(note -> text.append("note: ").append(note).append('\n'));
    report
        .losses()
        .forEach(loss -> text.append("LOST: ").append(line(directory, loss)).append('\n'));
    findings.forEach(
        finding -> text.append("WRONG in the new store: ").append(finding).append('\n'));
    for (RepairReport.SavedTree tree : report.trees()) {
      text.append(
          String.format(
              Locale.ROOT, "tree '%s': %s%n", tree.name(), Numbers.count(tree.entries(), "key")));
    }
    int count = report.losses().size();
    return text.append(
            count == 0 ? "nothing lost\n" : Numbers.count(count, "part") + " may be lost\n")
        .toString();
  }

  private static String line(Path directory, RepairReport.Loss loss) {
    // Not all losses are of a file: "the manifest".
    boolean ofFile = !loss.file().startsWith("the ");
    StringBuilder line =
        new StringBuilder(ofFile ? directory.resolve(loss.file()).toString() : loss.file());
    if (loss.to() >= 0) {
      line.append(", bytes ").append(loss.from()).append(" to ").append(loss.to());
    }
    if (loss.tree() != null) {
      line.append(", tree '").append(loss.tree()).append('\'');
    }
    if (loss.after() != null || loss.before() != null) {
      line.append(", keys ").append(key(loss.after())).append(" .. ").append(key(loss.before()));
    }
    return line.append(": ").append(loss.what()).toString();
  }

  private static String key(byte @Nullable [] key) {
    return key == null ? "" : KeyText.format(key);
  }

  private static String json(RepairReport report, List<Finding> findings) throws IOException {
    List<Map<String, Object>> losses = new ArrayList<>();
    for (RepairReport.Loss loss : report.losses()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("file", loss.file());
      one.put("from", loss.from());
      one.put("to", loss.to());
      one.put("tree", loss.tree());
      one.put("afterKey", loss.after() == null ? null : key(loss.after()));
      one.put("beforeKey", loss.before() == null ? null : key(loss.before()));
      one.put("what", loss.what());
      losses.add(one);
    }
    Map<String, Object> trees = new LinkedHashMap<>();
    report.trees().forEach(tree -> trees.put(tree.name(), tree.entries()));
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("complete", report.isComplete());
    all.put("losses", losses);
    all.put("notes", report.notes());
    all.put("trees", trees);
    all.put("findings", findings.stream().map(Finding::toString).toList());
    return JSON.std.asString(all) + "\n";
  }
}
