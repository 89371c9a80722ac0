package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Exit;
import io.isobardb.cli.console.FailedException;
import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The lines that {@code load} reads: entries, and behind them a line that counts them ({@link
 * EntryText#end}). Several exports may follow each other, each with its own. A line whose end is
 * missing may be cut, so it is never taken for an entry. Not thread-safe.
 */
final class EntryLines implements Closeable {
  /** Some editors put it before the first line. It is part of no key: that would be given as 0x. */
  private static final char BYTE_ORDER_MARK = '\ufeff';

  private final BufferedReader from;
  private final boolean withoutEnd;
  private final ValueForm form;
  private final StringBuilder line = new StringBuilder();
  private long number;
  private long entries;

  /** Entries that no line behind them has counted as yet. */
  private long uncounted;

  private boolean ended;

  private EntryLines(InputStream from, boolean withoutEnd, ValueForm form) {
    this.from =
        new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8.newDecoder()));
    this.withoutEnd = withoutEnd;
    this.form = form;
  }

  /**
   * The lines of a file.
   *
   * @param withoutEnd whether the line that counts them may be missing
   * @param form of the values
   */
  static EntryLines of(Path file, boolean withoutEnd, ValueForm form) throws IOException {
    return new EntryLines(Files.newInputStream(file), withoutEnd, form);
  }

  static EntryLines ofStandardInput(boolean withoutEnd, ValueForm form) {
    return new EntryLines(System.in, withoutEnd, form);
  }

  /** The number of the line that was read last, from 1. */
  long number() {
    return number;
  }

  /** How many entries were read. */
  long entries() {
    return entries;
  }

  /**
   * The next entry; null if all are read.
   *
   * @throws UsageException if a line is no entry
   * @throws FailedException if entries seem to be missing
   */
  @Nullable EntryText next() throws IOException {
    while (read()) {
      String text = line.toString();
      long counted = EntryText.counted(text);
      if (counted < 0) {
        entries++;
        uncounted++;
        ended = false;
        return EntryText.parse(text, number, form);
      }
      if (counted != uncounted) {
        throw incomplete(
            "line "
                + number
                + " tells of "
                + Numbers.entries(counted)
                + ", and before it stand "
                + Numbers.entries(uncounted));
      }
      uncounted = 0;
      ended = true;
    }
    if (!ended && !withoutEnd) {
      throw incomplete(
          "after line "
              + number
              + " '# end of N entries' is missing, so the lines may have been cut; --without-end loads them as they are");
    }
    return null;
  }

  private static FailedException incomplete(String message) {
    return new FailedException(Exit.FINDING, message);
  }

  /** Reads a line; false if there is none. */
  private boolean read() throws IOException {
    line.setLength(0);
    try {
      int next = from.read();
      if (next == BYTE_ORDER_MARK && number == 0) {
        next = from.read();
      }
      for (; next >= 0; next = from.read()) {
        if (next == '\n') {
          number++;
          int last = line.length() - 1;
          if (last >= 0 && line.charAt(last) == '\r') {
            line.setLength(last);
          }
          return true;
        }
        line.append((char) next);
      }
    } catch (CharacterCodingException e) {
      throw new UsageException(
          "after line "
              + number
              + " something is no UTF-8; give such keys and values as 0x and hexadecimal digits",
          e);
    }
    if (line.length() > 0) {
      throw incomplete(
          "line "
              + (number + 1)
              + " doesn't end as lines do, so it may have been cut; if it is whole, add a newline");
    }
    return false;
  }

  @Override
  public void close() throws IOException {
    from.close();
  }
}
