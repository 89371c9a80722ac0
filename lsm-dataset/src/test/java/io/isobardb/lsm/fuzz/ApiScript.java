package io.isobardb.lsm.fuzz;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.isobardb.lsm.Compression;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.StoreOptions;
import io.isobardb.lsm.TreeOptions;
import io.isobardb.lsm.experiment.ExperimentalOptions;
import io.isobardb.lsm.option.IoMode;
import io.isobardb.lsm.option.KeyOrder;
import io.isobardb.lsm.option.Levels;
import io.isobardb.lsm.policy.FlushPolicy;
import io.isobardb.lsm.policy.FlushStrategy;
import io.isobardb.lsm.policy.L0Structure;
import io.isobardb.lsm.policy.MemoryComponent;
import io.isobardb.lsm.policy.MergeSelection;
import io.isobardb.lsm.policy.WriteMemoryAllocation;
import io.isobardb.lsm.setting.OptionLimits;
import io.isobardb.lsm.simulation.FallingOrder;
import java.nio.charset.CharacterCodingException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Bytes taken for calls of the public API, with arguments at the edges of what is allowed.
 *
 * <p>Each call takes five bytes: which call, as a letter; the handle that it uses; a key or a name;
 * a value, a size or a variant; and how much background work follows. If the last is a line feed,
 * and the others are printable, a script is text that people can read and write. The first five
 * bytes choose the options of the first opening.
 */
public final class ApiScript {
  public static final int CALL_BYTES = 5;

  /** Scripts that are longer are cut off, so that an input takes a second at most. */
  private static final int MOST_CALLS = 200;

  /** One call. Arguments are 0 to 255. */
  public record Call(char letter, int which, int key, int value, int rest) {
    int background() {
      return rest % 5;
    }

    @Override
    public String toString() {
      return letter + " " + which + " " + key + " " + value + " " + rest;
    }
  }

  private static final String LONGEST = "n".repeat(200);
  private static final String FISH = "\uD83D\uDC1F";

  private static final List<String> NAMES =
      List.of(
          "a",
          "b",
          "c",
          "d",
          "",
          " ",
          LONGEST,
          LONGEST + "n",
          "a\nb",
          "\0",
          "\u007F",
          "\u0085",
          "\uD800",
          "x\uDC00",
          "\uDC00\uD800",
          FISH,
          FISH.repeat(100),
          FISH.repeat(101),
          "n".repeat(199) + FISH,
          "n".repeat(199) + "\uD83D",
          "\uFFFF",
          "\uFEFF",
          "\u2028",
          "\u202E",
          "..",
          "a/b",
          "CURRENT",
          "x#1",
          "'",
          "\u00E9",
          "e\u0301",
          "d/catalog");

  private ApiScript() {}

  public static List<Call> calls(byte[] input) {
    List<Call> calls = new ArrayList<>();
    for (int at = 0; at + CALL_BYTES <= input.length && calls.size() < MOST_CALLS; ) {
      calls.add(
          new Call(
              (char) (input[at] & 0xFF),
              input[at + 1] & 0xFF,
              input[at + 2] & 0xFF,
              input[at + 3] & 0xFF,
              input[at + 4] & 0xFF));
      at += CALL_BYTES;
    }
    return calls;
  }

  /** A script drawn at random, for runs without a fuzzer. */
  public static byte[] random(long seed, int calls, String letters) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] input = new byte[calls * CALL_BYTES];
    random.nextBytes(input);
    byte[] choice = letters.getBytes(ISO_8859_1);
    for (int at = CALL_BYTES; at < input.length; at += CALL_BYTES) {
      input[at] = choice[random.nextInt(choice.length)];
      if (random.nextInt(3) != 0) {
        // Few handles and keys, so that calls meet.
        input[at + 1] = (byte) random.nextInt(3);
        input[at + 2] = (byte) ('0' + random.nextInt(8));
      }
    }
    return input;
  }

  /** A name of a tree, or null. */
  public static @Nullable String name(int number, int second) {
    if (number >= 0x60) {
      // Letters stand for the names that are used most.
      return number >= 0xF0
          ? String.valueOf((char) (number << 8 | second))
          : number == 'z' ? null : NAMES.get(number % 4);
    }
    return NAMES.get(number % NAMES.size());
  }

  /** Whether a store has to accept this name for a new tree. */
  public static boolean canBeStored(String name) {
    if (name.isEmpty() || name.length() > 200 || name.chars().anyMatch(Character::isISOControl)) {
      return false;
    }
    try {
      UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap(name));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  /**
   * A key, or null. May be longer than allowed.
   *
   * @param most the longest that is allowed, in bytes
   */
  public static byte @Nullable [] key(int number, int most) {
    int low = number & 31;
    switch (number >> 5) {
      case 0:
        // The empty key, and keys that are prefixes of each other.
        return new byte[low];
      case 1:
        return new byte[] {(byte) number};
      case 2:
        byte[] high = new byte[low];
        Arrays.fill(high, (byte) 0xFF);
        return high;
      case 3:
        byte[] longest = new byte[most - (low & 1)];
        longest[longest.length - 1] = (byte) (low >> 1);
        return longest;
      case 4:
        return burstKey(low * 11);
      case 5:
        byte[] prefixed = new byte[101];
        prefixed[100] = (byte) low;
        return prefixed;
      case 6:
        return low == 0 ? null : new byte[low < 8 ? most + 1 : low < 12 ? 2 * most : most];
      default:
        return burstKey(low * 37);
    }
  }

  /** One of the keys that bursts write. */
  public static byte[] burstKey(int number) {
    return String.format("key%05d", number).getBytes(UTF_8);
  }

  /**
   * The length of a value, or -1 for null. May be more than allowed.
   *
   * @param most the longest that is allowed, in bytes
   */
  public static int valueLength(int number, int pageSize, int most) {
    int low = number & 31;
    return switch (number >> 5) {
      case 0 -> low;
      case 1 -> 100 + low;
      case 2 -> pageSize / 4 - 16 + low;
      case 3 -> pageSize - 16 + low;
      case 4 -> pageSize * low / 4;
      case 5 -> most - low % 4;
      case 6 -> low == 0 ? -1 : most + (low < 16 ? 1 : low);
      default -> 300;
    };
  }

  public static TreeOptions treeOptions(int number) {
    return TreeOptions.builder()
        .keyOrder(number % 4 == 1 ? FallingOrder.FALLING : KeyOrder.BYTES)
        .logged(number / 4 % 4 != 1)
        .compression(number / 16 % 4 == 1 ? Compression.LZ4 : Compression.NONE)
        .filterBitsPerKey(number / 64 == 1 ? 0 : number / 64 == 2 ? 24 : 10)
        .build();
  }

  public static int pageSize(int number) {
    return 4096 << (number % 5);
  }

  /**
   * Options of a store. Budgets are such that pages, log and the largest values fit into them.
   *
   * @param seed draws all but the page size
   */
  public static StoreOptions storeOptions(int pageSize, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long budget =
        switch (random.nextInt(3)) {
          case 0 -> OptionLimits.leastBudget(pageSize);
          case 1 -> 8 << 20;
          default -> (8L + random.nextInt(13)) << 20;
        };
    long writeMemory = random.nextBoolean() ? 0 : budget / 16 * (4 + random.nextInt(7));
    return ExperimentalOptions.set(
            StoreOptions.builder()
                .memoryBudget(budget)
                .writeMemory(writeMemory)
                .pageSize(pageSize)
                .logLimit(random.nextInt(6) == 0 ? 0 : (1 + random.nextInt(2)) << 20),
            e ->
                e.flushPolicy(anyOf(random, FlushPolicy.values()))
                    .flushStrategy(anyOf(random, FlushStrategy.values()))
                    .l0Structure(anyOf(random, L0Structure.values()))
                    .mergeSelection(anyOf(random, MergeSelection.values()))
                    .memoryComponent(anyOf(random, MemoryComponent.values()))
                    .writeMemoryAllocation(anyOf(random, WriteMemoryAllocation.values()))
                    .staticTrees(1 + random.nextInt(3)))
        .levels(random.nextInt(3) == 0 ? Levels.fixed(64 << 10) : Levels.dynamic())
        .memoryTuner(random.nextBoolean())
        .memoryTuner(t -> t.interval(Duration.ofSeconds(1)))
        .durability(anyOf(random, Durability.values()))
        .asyncSyncInterval(Duration.ofMillis(random.nextInt(3) * 50))
        // Not drawn, so that all that is stays as it was.
        .writeTimeout(Duration.ofDays(writeMemory / pageSize % 3 == 1 ? 0 : 365))
        .backgroundThreads(1 + random.nextInt(3))
        .maxOpenFiles(16)
        .ioMode(anyOf(random, IoMode.values()))
        .keyOrder(FallingOrder.FALLING)
        .build();
  }

  private static <E> E anyOf(SplittableRandom random, E[] values) {
    return values[random.nextInt(values.length)];
  }
}
