package io.isobardb.bench.record;

import com.fasterxml.jackson.jr.ob.JSON;
import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.JsonOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code record}: shows a recording. */
@Command(
    name = "record",
    description = "Shows what a recording of a store has.",
    footer = {
      "",
      "Store.startRecording makes one in a process of yours; 'isobar ycsb' and 'isobar latency' do,"
          + " with --record. 'isobar tune --workload', 'isobar latency --load-file' and 'isobar"
          + " model --keys-from' take it. docs/tuning.md says more."
    })
public final class RecordCommand implements Callable<Integer> {
  @Spec private CommandSpec command;

  @Parameters(index = "0", paramLabel = "FILE", description = "The recording.")
  private Path file = Path.of("");

  @Mixin private JsonOption json = new JsonOption();

  @Override
  public Integer call() throws IOException {
    RecordingSummary summary = new RecordingSummary(RecordedRun.read("FILE", file));
    PrintWriter out = command.commandLine().getOut();
    out.print(json.isGiven() ? JSON.std.asString(summary.toMap()) + "\n" : summary.text());
    out.flush();
    return Exit.SUCCESS.code();
  }
}
