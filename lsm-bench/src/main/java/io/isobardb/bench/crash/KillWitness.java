package io.isobardb.bench.crash;

import io.isobardb.bench.crash.KillCycles.Moment;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Reads what a victim says until its end, and remembers what it has acknowledged.
 *
 * <p>Thread rule: {@link #read} by one thread, the rest by any.
 */
final class KillWitness {
  private final long[] done;
  private long checkpoint;
  private long choreBegun;
  private long choreDone;
  private final Set<String> heard = new HashSet<>();
  private String said = "";
  private boolean written;
  private boolean ended;

  /**
   * @param next each thread's first operation
   * @param checkpoint the count that the unlogged tree stands at
   * @param chore the first step of {@link KillChores}
   */
  KillWitness(long[] next, long checkpoint, long chore) {
    this.done = Arrays.stream(next).map(n -> n - 1).toArray();
    this.checkpoint = checkpoint;
    this.choreBegun = chore - 1;
    this.choreDone = chore - 1;
  }

  void read(BufferedReader reader) {
    try (reader) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        hear(line);
      }
    } catch (IOException e) {
      // The pipe broke with the victim; what came through counts.
    } finally {
      synchronized (this) {
        ended = true;
        notifyAll();
      }
    }
  }

  private synchronized void hear(String line) {
    int space = line.indexOf(' ');
    if (space < 0) {
      said = line;
      heard.add(line);
    } else if (line.startsWith("c ")) {
      checkpoint = Long.parseLong(line.substring(2));
    } else if (line.startsWith("begun ")) {
      choreBegun = Long.parseLong(line.substring(space + 1));
    } else if (line.startsWith("done ")) {
      choreDone = Long.parseLong(line.substring(space + 1));
    } else {
      int thread = Integer.parseInt(line.substring(0, space));
      long n = Long.parseLong(line.substring(space + 1));
      done[thread] = n;
      written = true;
    }
    notifyAll();
  }

  /**
   * Waits until the victim has said a word, other words after it or not, or has ended; gives
   * whether it said it.
   */
  synchronized boolean await(String word, long timeoutMillis) throws InterruptedException {
    await(() -> hasHeard(word), timeoutMillis);
    return hasHeard(word);
  }

  /** Waits until threads have done so many operations in all, or the victim has ended. */
  synchronized boolean await(long operations, long timeoutMillis) throws InterruptedException {
    return await(() -> Arrays.stream(done).sum() + done.length >= operations, timeoutMillis)
        && !ended;
  }

  /** Waits until this chore is under way, or the victim has ended; gives whether it is. */
  synchronized boolean await(Moment chore, long timeoutMillis) throws InterruptedException {
    BooleanSupplier underWay =
        () -> choreBegun > choreDone && KillChores.moment(choreBegun) == chore;
    return await(underWay, timeoutMillis) && underWay.getAsBoolean();
  }

  /** Waits until something holds, or the victim has ended; false if neither comes in time. */
  private synchronized boolean await(BooleanSupplier what, long timeoutMillis)
      throws InterruptedException {
    long end = System.nanoTime() + timeoutMillis * 1_000_000;
    while (!ended && !what.getAsBoolean()) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }

  private boolean hasHeard(String word) {
    return word.equals("write") ? written : heard.contains(word);
  }

  /** The last word, other than of writes. */
  synchronized String said() {
    return said;
  }

  /** Each thread's last operation that has returned, which must not be lost, synced or not. */
  synchronized long[] done() {
    return done.clone();
  }

  /** The last count that a checkpoint has saved. */
  synchronized long checkpoint() {
    return checkpoint;
  }

  /** The last step of {@link KillChores} that has begun. */
  synchronized long choreBegun() {
    return choreBegun;
  }

  /** The last one that has returned. */
  synchronized long choreDone() {
    return choreDone;
  }

  @Override
  public synchronized String toString() {
    return "done " + Arrays.toString(done);
  }
}
