package io.isobardb.lsm.io;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the descriptors that a storage holds within a limit: before one more is taken, files that
 * were read longest ago give theirs back ({@link ChannelFile#park}), and take another one when they
 * are read again.
 *
 * <p>A clock chooses: a file that was read since the hand last passed is passed over once. Readers
 * set a flag in their own file and nothing else, so a read of an open file takes no lock and writes
 * no shared counter. A file that is chosen while a read is under way is not harmed: the read meets
 * a closed channel, opens the file, and is done again, as after an interrupt.
 *
 * <p>Files that were written to keep their descriptors until they are closed: an error in writing
 * back may be reported to that descriptor alone. The limit is exceeded while there are too many of
 * those. If the system refuses a descriptor, half of the files give theirs back, and the limit is
 * lowered to what was left.
 *
 * <p>Thread rule: any thread. The lock is not held during I/O.
 */
final class OpenFiles {
  /** The lowest limit: log, manifest and a few outputs of merges, and some to read. */
  static final int LEAST = 16;

  /** The highest limit that is chosen by default. An open file takes about 1 KB of heap. */
  static final int MOST_BY_DEFAULT = 10_000;

  /** How often a file that is opened looks for others to close. */
  private static final int TRIES = 4;

  /** Takes a descriptor. */
  @FunctionalInterface
  interface Opener<T> {
    T open() throws IOException;
  }

  private final String of;
  private final ReentrantLock lock = new ReentrantLock();

  /** Files that may give their descriptor back; the hand of the clock is at the first. */
  private final Set<ChannelFile> clock = new LinkedHashSet<>();

  private int limit;
  private int held;

  /** Descriptors that are about to be taken. */
  private int coming;

  /** Files that were chosen, and hold their descriptor still. */
  private int leaving;

  /**
   * @param of the directory, for messages
   * @param limit how many descriptors it may hold; less if the process can't have so many, as class
   *     loaders, sockets and the like need some, too
   */
  OpenFiles(String of, int limit) {
    this.of = of;
    long most = Math.max(LEAST, spare() / 4 * 3);
    this.limit = (int) Math.min(limit, most);
    if (limit > most) {
      System.getLogger(OpenFiles.class.getName())
          .log(
              Level.WARNING,
              of
                  + ": maxOpenFiles is "
                  + limit
                  + ", but the process may open "
                  + spare()
                  + " more files only: "
                  + most
                  + " are kept open. Raise the process's limit (ulimit -n), or lower maxOpenFiles");
    }
  }

  /** A quarter of the descriptors that the process may still take, within bounds. */
  static int defaultLimit() {
    return (int) Math.max(LEAST, Math.min(spare() / 4, MOST_BY_DEFAULT));
  }

  /** How many descriptors the process may still take. */
  private static long spare() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? Math.max(0, unix.getMaxFileDescriptorCount() - unix.getOpenFileDescriptorCount())
        : Integer.MAX_VALUE;
  }

  /**
   * Takes one more descriptor. The caller holds no lock that {@link ChannelFile#park} may wait for.
   */
  <T> T opening(Opener<T> opener) throws IOException {
    boolean opened = false;
    List<ChannelFile> chosen = chooseFor(1);
    try {
      // A file that is being opened anew can't be closed, so others are looked for.
      for (int tries = 1; !chosen.isEmpty(); tries++) {
        park(chosen);
        chosen = tries < TRIES ? chooseFor(0) : List.of();
      }
      T result = retrying(opener);
      opened = true;
      return result;
    } finally {
      arrived(opened);
    }
  }

  /** As {@link #opening}, of a descriptor that is held for a moment only and does not count. */
  <T> T retrying(Opener<T> opener) throws IOException {
    while (true) {
      try {
        return opener.open();
      } catch (IOException e) {
        if (!FileErrors.saysTooManyOpen(e) || !parkHalf()) {
          throw e;
        }
      }
    }
  }

  /** A file that was opened to be read may give its descriptor back. */
  void mayPark(ChannelFile file) {
    lock.lock();
    try {
      clock.add(file);
    } finally {
      lock.unlock();
    }
  }

  /** A descriptor was given back. */
  void closed() {
    lock.lock();
    try {
      held--;
    } finally {
      lock.unlock();
    }
  }

  /** A file was closed for good. */
  void forget(ChannelFile file) {
    lock.lock();
    try {
      clock.remove(file);
    } finally {
      lock.unlock();
    }
  }

  /** Descriptors held. */
  int held() {
    lock.lock();
    try {
      return held;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Files that are to make room for those that are about to be opened, {@code more} of them new.
   */
  private List<ChannelFile> chooseFor(int more) {
    lock.lock();
    try {
      coming += more;
      return choose(held + coming - leaving - limit);
    } finally {
      lock.unlock();
    }
  }

  private void arrived(boolean opened) {
    lock.lock();
    try {
      coming--;
      held += opened ? 1 : 0;
    } finally {
      lock.unlock();
    }
  }

  /** Takes some files from the clock, which leave; the lock is held. */
  private List<ChannelFile> choose(int count) {
    List<ChannelFile> chosen = new ArrayList<>();
    for (int passes = clock.size(); chosen.size() < count && !clock.isEmpty(); passes--) {
      Iterator<ChannelFile> hand = clock.iterator();
      ChannelFile file = hand.next();
      hand.remove();
      if (file.wasReadSinceAsked() && passes > 0) {
        clock.add(file);
      } else {
        chosen.add(file);
      }
    }
    leaving += chosen.size();
    return chosen;
  }

  /**
   * Lets files that were chosen give their descriptors back, all of them even if one fails.
   *
   * @return whether one of them did
   */
  private boolean park(List<ChannelFile> chosen) throws IOException {
    boolean parked = false;
    IOException failure = null;
    for (ChannelFile file : chosen) {
      // Before it does: meanwhile others may close one more, but nobody opens one too many.
      left();
      try {
        if (file.park()) {
          parked = true;
        } else if (file.mayPark()) {
          // It is being opened anew.
          mayPark(file);
        }
      } catch (IOException e) {
        failure = failure == null ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
    return parked;
  }

  private void left() {
    lock.lock();
    try {
      leaving--;
    } finally {
      lock.unlock();
    }
  }

  /** After the system refused a descriptor. */
  private boolean parkHalf() throws IOException {
    List<ChannelFile> chosen;
    int kept;
    lock.lock();
    try {
      chosen = choose((clock.size() + 1) / 2);
      limit = Math.max(LEAST, Math.min(limit, held + coming - chosen.size()));
      kept = limit;
    } finally {
      lock.unlock();
    }
    if (!chosen.isEmpty()) {
      System.getLogger(OpenFiles.class.getName())
          .log(
              Level.WARNING,
              of
                  + ": the process has too many open files; this store keeps "
                  + kept
                  + " of its files open from now on. Raise the process's limit (ulimit -n), or lower maxOpenFiles");
    }
    return park(chosen);
  }
}
