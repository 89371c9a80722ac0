package io.isobardb.lsm.tuning;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.io.DataFile;
import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.memory.page.Memory;
import io.isobardb.memory.pool.Block;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.memory.stats.Purpose;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.DecisionText;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelText;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The tuner's decisions in a file of the store, one line each ({@link DecisionText}, {@link
 * LevelText}), the newest last. It is of use and never needed: it is not synced, lines that are
 * damaged are passed over, and a file that can't be read or written only means that the tuner
 * starts afresh.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class TunerFile {
  /** The file's name in the store's directory. */
  public static final String NAME = "TUNER";

  private static final String TEMPORARY = "TUNER.tmp";

  /** Beyond this size it is written anew with the newest half. */
  private static final int MAX_BYTES = 256 << 10;

  private final Storage storage;
  private final PagePool pool;
  private boolean appended;

  TunerFile(Storage storage, PagePool pool) {
    this.storage = storage;
    this.pool = pool;
  }

  /** The decisions on memory in a file's text; what is none is left out. */
  public static TunerHistory parse(String text) {
    List<Decision> decisions = new ArrayList<>();
    text.lines()
        .filter(line -> !line.isEmpty() && !LevelText.isLevels(line))
        .forEach(line -> add(decisions, line, DecisionText::parse));
    return TunerHistory.of(decisions);
  }

  /** The decisions on levels in a file's text; what is none is left out. */
  public static List<LevelDecision> parseLevels(String text) {
    List<LevelDecision> decisions = new ArrayList<>();
    text.lines()
        .filter(LevelText::isLevels)
        .forEach(line -> add(decisions, line, LevelText::parse));
    return decisions;
  }

  /** How many lines of a file's text are no decisions. */
  public static int unreadableLines(String text) {
    List<Object> ignored = new ArrayList<>();
    return (int)
        text.lines()
            .filter(line -> !line.isEmpty())
            .filter(
                line ->
                    !(LevelText.isLevels(line)
                        ? add(ignored, line, LevelText::parse)
                        : add(ignored, line, DecisionText::parse)))
            .count();
  }

  /** Whether the line is a decision, which is added then. */
  private static <T> boolean add(
      List<? super T> decisions, String line, Function<String, T> parser) {
    try {
      return decisions.add(parser.apply(line));
    } catch (RuntimeException e) {
      System.getLogger(TunerFile.class.getName())
          .log(Level.DEBUG, () -> "a line of " + NAME + " is passed over: " + e);
      return false;
    }
  }

  /** What was decided on memory before. */
  TunerHistory read() {
    return parse(readable());
  }

  /** What was decided on levels before. */
  List<LevelDecision> readLevels() {
    return parseLevels(readable());
  }

  private String readable() {
    try {
      return storage.exists(NAME) ? text() : "";
    } catch (IOException | RuntimeException e) {
      System.getLogger(TunerFile.class.getName())
          .log(
              Level.INFO,
              "the memory tuner starts afresh: " + storage.path() + "/" + NAME + ": " + e);
      return "";
    }
  }

  /** Adds a decision on memory. */
  void append(Decision decision) {
    append(DecisionText.write(decision));
  }

  /** Adds a decision on levels. */
  void append(LevelDecision decision) {
    append(LevelText.write(decision));
  }

  private void append(String text) {
    // The last line may be torn: the first one of this session begins a line in any case.
    String begin = appended ? "" : "\n";
    byte[] line = (begin + text + "\n").getBytes(UTF_8);
    appended = true;
    try {
      if (!storage.exists(NAME)) {
        write(NAME, true, 0, line);
        return;
      }
      long size = size();
      if (size + line.length <= MAX_BYTES) {
        write(NAME, false, size, line);
      } else if (line.length <= MAX_BYTES) {
        String before = line.length <= MAX_BYTES / 2 ? newest() : "";
        storage.delete(TEMPORARY);
        write(TEMPORARY, true, 0, (before + new String(line, UTF_8)).getBytes(UTF_8));
        storage.rename(TEMPORARY, NAME);
      }
    } catch (IOException | RuntimeException e) {
      System.getLogger(TunerFile.class.getName())
          .log(
              Level.INFO,
              "a decision of the memory tuner is not kept: " + storage.path() + ": " + e);
    }
  }

  /** The last lines, half of what the file may hold. */
  private String newest() throws IOException {
    String text = text();
    int from = text.indexOf('\n', Math.max(0, text.length() - MAX_BYTES / 2));
    return from < 0 ? "" : text.substring(from + 1);
  }

  private long size() throws IOException {
    try (DataFile file = storage.open(NAME, IoMode.BUFFERED)) {
      return file.size();
    }
  }

  private String text() throws IOException {
    try (DataFile file = storage.open(NAME, IoMode.BUFFERED)) {
      byte[] bytes = new byte[(int) Math.min(file.size(), MAX_BYTES)];
      int[] done = {0};
      inPieces(
          bytes.length,
          (memory, length) -> {
            int got = file.read(done[0], memory, 0, length);
            memory.get(0, bytes, done[0], got);
            done[0] += length;
          });
      return new String(bytes, UTF_8);
    }
  }

  private void write(String name, boolean create, long offset, byte[] bytes) throws IOException {
    try (DataFile file =
        create ? storage.create(name, IoMode.BUFFERED) : storage.open(name, IoMode.BUFFERED)) {
      int[] done = {0};
      inPieces(
          bytes.length,
          (memory, length) -> {
            memory.put(0, bytes, done[0], length);
            file.write(offset + done[0], memory, 0, length);
            done[0] += length;
          });
    }
  }

  /** Something to do with a piece. */
  private interface Piece {
    void move(Memory memory, int length) throws IOException;
  }

  private void inPieces(int bytes, Piece piece) throws IOException {
    Block block = pool.blocks().allocate(DataFile.BLOCK, Purpose.METADATA);
    try {
      for (int left = bytes; left > 0; left -= DataFile.BLOCK) {
        piece.move(block.memory(), Math.min(left, DataFile.BLOCK));
      }
    } finally {
      pool.release(block);
    }
  }
}
