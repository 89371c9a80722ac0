package io.isobardb.lsm.damage;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Programs that see file systems which are mounted for them alone, where root may do so. */
public final class MountNamespace {
  private MountNamespace() {}

  /**
   * Runs a program; gives the lines that it prints.
   *
   * @param mount a script that mounts, with the arguments as its own from {@code $1} on
   */
  public static List<String> run(String mount, Class<?> program, Path... arguments)
      throws IOException, InterruptedException {
    assumeTrue(canMount(), "needs the right to mount, as root has it");
    List<String> command = new ArrayList<>(List.of("unshare", "-m", "sh", "-c"));
    command.add(
        "java=\"$0\" path=\"$1\" main=\"$2\"; shift 2; "
            + mount
            + " && exec \"$java\""
            + " -Xmx64m -XX:TieredStopAtLevel=1 -cp \"$path\" \"$main\" \"$@\"");
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add(System.getProperty("java.class.path"));
    command.add(program.getName());
    for (Path argument : arguments) {
      command.add(argument.toString());
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return output.lines().toList();
  }

  private static boolean canMount() throws InterruptedException {
    try {
      return new ProcessBuilder("unshare", "-m", "true").start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }
}
