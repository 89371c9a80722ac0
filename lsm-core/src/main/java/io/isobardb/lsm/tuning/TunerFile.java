package io.isobardb.lsm.tuning;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.event.SystemLog;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** Beyond this size it is written anew with what is needed: see {@link #needed}. */
  private static final int MAX_BYTES = 256 << 10;

  /** What the last decisions on trees may take that are older than the newest half. */
  private static final int MOST_OLDER_BYTES = MAX_BYTES / 4;

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
      SystemLog.tell(
          Level.DEBUG, TunerFile.class, () -> "a line of " + NAME + " is passed over: " + e, null);
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
      SystemLog.tell(
          Level.INFO,
          TunerFile.class,
          () -> "the memory tuner starts afresh: " + path + "/" + NAME + ": " + e,
          null);
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
        file.replace(needed(MAX_BYTES - bytes) + line);
      }
    } catch (IOException | RuntimeException e) {
      SystemLog.tell(
          Level.INFO,
          TunerFile.class,
          () -> "a decision of the memory tuner is not kept: " + path + ": " + e,
          null);
    }
  }

  /**
   * What stays of the file: its newest half, if there is room for that, and before it the last
   * decisions on trees. A plan may be much older than the newest half: memory is divided anew all
   * the time, and a plan that proves itself is not decided on again.
   */
  private String needed(int room) throws IOException {
    String text = file.read(MAX_BYTES);
    int half = MAX_BYTES / 2;
    int from = room < half ? -1 : text.indexOf('\n', Math.max(0, text.length() - half));
    String newest = from < 0 ? "" : text.substring(from + 1);
    return lastOfTrees(text, newest, Math.min(MOST_OLDER_BYTES, room - newest.length())) + newest;
  }

  /** The last lines on the levels and on the runs of each tree that the newest ones lack. */
  private static String lastOfTrees(String text, String newest, int room) {
    Map<String, String> last = new LinkedHashMap<>();
    text.lines()
        .forEach(
            line -> {
              String subject = subject(line);
              if (!subject.isEmpty()) {
                last.remove(subject);
                last.put(subject, line + "\n");
              }
            });
    newest.lines().forEach(line -> last.remove(subject(line)));
    List<String> lines = new ArrayList<>(last.values());
    StringBuilder kept = new StringBuilder();
    for (int i = lines.size() - 1; i >= 0 && kept.length() + lines.get(i).length() <= room; i--) {
      kept.insert(0, lines.get(i));
    }
    return kept.toString();
  }

  /** What a decision on a tree is about; empty if a line is none. */
  private static String subject(String line) {
    try {
      if (LevelText.isLevels(line)) {
        return "levels of " + LevelText.parse(line).tree();
      }
      return ShapeText.isShape(line) ? "runs of " + ShapeText.parse(line).tree() : "";
    } catch (RuntimeException e) {
      return "";
    }
  }
}
