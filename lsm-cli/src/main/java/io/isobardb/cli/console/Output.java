package io.isobardb.cli.console;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Standard output of a command, in UTF-8 whatever the locale has: what a program reads of it must
 * not depend on where it was printed. The first write that fails throws {@link OutputException},
 * through the printers above, which would only note an {@code IOException}. So a command whose
 * output is lost ends there. What is written later is dropped.
 *
 * <p>Not thread-safe, but for printers above that are.
 */
public final class Output extends OutputStream {
  private final OutputStream to;
  private volatile boolean failed;

  /**
   * @param to where the output goes
   */
  public Output(OutputStream to) {
    this.to = to;
  }

  /**
   * Puts one in the place of {@link System#out}.
   *
   * @return the one that was put there, to be asked at the end
   */
  public static Output install() {
    Output output = new Output(new FileOutputStream(FileDescriptor.out));
    System.setOut(new PrintStream(output, false, StandardCharsets.UTF_8));
    return output;
  }

  /** {@return a printer to it, which flushes after each line} */
  public PrintWriter printer() {
    return new PrintWriter(new OutputStreamWriter(this, StandardCharsets.UTF_8), true);
  }

  /** {@return whether something was lost} */
  public boolean hasFailed() {
    return failed;
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    if (failed) {
      return;
    }
    try {
      to.write(bytes, offset, length);
    } catch (IOException e) {
      failed = true;
      throw new OutputException(e, isReaderGone(e));
    }
  }

  /**
   * A pipe or socket fails only once nobody reads it. Where the system can't tell, its text may.
   */
  private static boolean isReaderGone(IOException e) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException | UnsupportedOperationException unknown) {
      return String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT).contains("broken pipe");
    }
  }
}
