package io.isobardb.lsm.tuning;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.io.Storage;
import io.isobardb.lsm.io.TextFile;
import io.isobardb.memory.pool.PagePool;
import io.isobardb.tuner.memory.Decision;
import io.isobardb.tuner.memory.DecisionText;
import io.isobardb.tuner.memory.TunerHistory;
import io.isobardb.tuner.shape.ShapeDecision;
import io.isobardb.tuner.shape.ShapeText;
import io.isobardb.tuner.workload.LevelDecision;
import io.isobardb.tuner.workload.LevelText;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The tuner's decisions in a file of the store, one line each ({@link DecisionText}, {@link
 * LevelText}, {@link ShapeText}), the newest last. It is of use and never needed: it is not synced,
 * lines that are damaged are passed over, and a file that can't be read or written only means that
 * the tuner starts afresh.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class TunerFile {
  /** The file's name in the store's directory. */
  public static final String NAME = "TUNER";

  /** Beyond this size it is written anew with the newest half. */
  private static final int MAX_BYTES = 256 << 10;

  private final String path;
  private final TextFile file;
  private boolean appended;

  public TunerFile(Storage storage, PagePool pool) {
    this.path = storage.path();
    this.file = new TextFile(storage, pool, NAME);
  }

  /** The decisions on memory in a file's text; what is none is left out. */
  public static TunerHistory parse(String text) {
    List<Decision> decisions = new ArrayList<>();
    text.lines()
        .filter(line -> !line.isEmpty() && !LevelText.isLevels(line) && !ShapeText.isShape(line))
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

  /** The decisions on runs in a file's text; what is none is left out. */
  public static List<ShapeDecision> parseShapes(String text) {
    List<ShapeDecision> decisions = new ArrayList<>();
    text.lines().filter(ShapeText::isShape).forEach(line -> add(decisions, line, ShapeText::parse));
    return decisions;
  }

  /** How many lines of a file's text are no decisions. */
  public static int unreadableLines(String text) {
    List<Object> ignored = new ArrayList<>();
    return (int)
        text.lines()
            .filter(line -> !line.isEmpty())
            .filter(line -> !add(ignored, line, parser(line)))
            .count();
  }

  private static Function<String, ?> parser(String line) {
    if (LevelText.isLevels(line)) {
      return LevelText::parse;
    }
    return ShapeText.isShape(line) ? ShapeText::parse : DecisionText::parse;
  }

  /** Whether the line is a decision, which is added then. */
  private static <T> boolean add(
      List<? super T> decisions, String line, Function<String, ? extends T> parser) {
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

  /** What was decided on runs before. */
  List<ShapeDecision> readShapes() {
    return parseShapes(readable());
  }

  private String readable() {
    try {
      return file.exists() ? file.read(MAX_BYTES) : "";
    } catch (IOException | RuntimeException e) {
      System.getLogger(TunerFile.class.getName())
          .log(Level.INFO, "the memory tuner starts afresh: " + path + "/" + NAME + ": " + e);
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

  /** Adds a decision on runs. */
  void append(ShapeDecision decision) {
    append(ShapeText.write(decision));
  }

  private void append(String text) {
    // The last line may be torn: the first one of this session begins a line in any case.
    String begin = appended ? "" : "\n";
    String line = begin + text + "\n";
    int bytes = line.getBytes(UTF_8).length;
    appended = true;
    try {
      if (!file.exists() || file.size() + bytes <= MAX_BYTES) {
        file.append(line);
      } else if (bytes <= MAX_BYTES) {
        file.replace((bytes <= MAX_BYTES / 2 ? newest() : "") + line);
      }
    } catch (IOException | RuntimeException e) {
      System.getLogger(TunerFile.class.getName())
          .log(Level.INFO, "a decision of the memory tuner is not kept: " + path + ": " + e);
    }
  }

  /** The last lines, half of what the file may hold. */
  private String newest() throws IOException {
    String text = file.read(MAX_BYTES);
    int from = text.indexOf('\n', Math.max(0, text.length() - MAX_BYTES / 2));
    return from < 0 ? "" : text.substring(from + 1);
  }
}
