package io.isobardb.cli.inspect;

import io.isobardb.lsm.option.FileAccess;
import picocli.CommandLine.Option;

/** Who else may use the files that a command makes. */
final class NewFiles {
  @Option(
      names = "--file-access",
      paramLabel = "WHO",
      description =
          "Who else may use what is made: owner (nobody), group (may read), umask (whoever that"
              + " lets). What is there keeps its permissions (default: owner).")
  private FileAccess access = FileAccess.OWNER;

  FileAccess access() {
    return access;
  }
}
