package io.isobardb.lsm.io;

import io.isobardb.lsm.event.SystemLog;
import io.isobardb.lsm.setting.ProcessLimits;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the descriptors that a storage holds within a limit: before one more is taken, files that
 * were not read lately give theirs back ({@link ChannelFile#park}), and take another one when they
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
 * lowered to what was left. If there are none to give back, the call waits for others to do so.
 *
 * <p>That the process has no descriptor left is told by counting them, since the system's message
 * may be in any language. They may be back when they are counted, so a call that failed for a
 * reason unknown is made once more.
 *
 * <p>Thread rule: any thread. The lock is not held during I/O.
 */
final class OpenFiles {
  /** How often a file that is opened looks for others to close. */
  private static final int TRIES = 4;

  /** Takes a descriptor. */
  @FunctionalInterface
  interface Opener<T> {
    T open() throws IOException;
  }

  /** The process has no descriptor left if it has fewer: others take and give them meanwhile. */
  private static final int FEW = 16;

  private static final long PAUSE_NANOS = 20_000_000L;

  /** How often a call pauses at most until there is a descriptor: for half a minute. */
  static final int MOST_PAUSES = 1500;

  /** The descriptors of the process; tests have others. */
  interface Descriptors {
    /** How many more the process may take; a large number if that is unknown. */
    long spare();

    /** Waits for a moment, in which some may be given back. */
    void pause();
  }

  static final Descriptors OF_PROCESS =
      new Descriptors() {
        private final ReentrantLock pausing = new ReentrantLock();

        /** A descriptor was given back. Nobody tells, as that may be anybody of the process. */
        private final Condition given = pausing.newCondition();

        @Override
        public long spare() {
          return ProcessLimits.spareDescriptors();
        }

        @Override
        public void pause() {
          boolean interrupted = false;
          pausing.lock();
          try {
            for (long left = PAUSE_NANOS; left > 0; ) {
              try {
                left = given.awaitNanos(left);
              } catch (InterruptedException e) {
                interrupted = true;
              }
            }
          } finally {
            pausing.unlock();
            if (interrupted) {
              Thread.currentThread().interrupt();
            }
          }
        }
      };

  private final String of;
  private final Descriptors descriptors;
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
  OpenFiles(String of, int limit, Descriptors descriptors) {
    this.of = of;
    this.descriptors = descriptors;
    long spare = descriptors.spare();
    long most = Math.max(ProcessLimits.LEAST_OPEN_FILES, spare / 4 * 3);
    this.limit = (int) Math.min(limit, most);
    if (limit > most) {
      SystemLog.tell(
          Level.WARNING,
          OpenFiles.class,
          () ->
              of
                  + ": maxOpenFiles is "
                  + limit
                  + ", but the process may open "
                  + spare
                  + " more files only: "
                  + most
                  + " are kept open. "
                  + FileErrors.MORE_DESCRIPTORS,
          null);
    }
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
      onArrived(opened);
    }
  }

  /** As {@link #opening}, of a descriptor that is held for a moment only and does not count. */
  <T> T retrying(Opener<T> opener) throws IOException {
    int pauses = 0;
    boolean again = false;
    while (true) {
      try {
        T opened = opener.open();
        if (pauses > 0) {
          warn("the process had no file descriptor left, and a call waited for one.");
        }
        return opened;
      } catch (IOException e) {
        boolean unclear = FileErrors.isUnclear(e);
        if (FileErrors.saysTooManyOpen(e) || (unclear && descriptors.spare() < FEW)) {
          if (!parkHalf()) {
            if (pauses++ == MOST_PAUSES) {
              throw FileErrors.tooManyOpen(of, e);
            }
            descriptors.pause();
          }
        } else if (unclear && !again) {
          again = true;
        } else {
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
  void onClosed() {
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

  private void onArrived(boolean opened) {
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
      onLeft();
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

  private void onLeft() {
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
      limit =
          Math.max(ProcessLimits.LEAST_OPEN_FILES, Math.min(limit, held + coming - chosen.size()));
      kept = limit;
    } finally {
      lock.unlock();
    }
    if (!chosen.isEmpty()) {
      warn(
          "the process has too many open files; this store keeps "
              + kept
              + " of its files open from now on.");
    }
    return park(chosen);
  }

  private void warn(String what) {
    SystemLog.tell(
        Level.WARNING,
        OpenFiles.class,
        () -> of + ": " + what + " " + FileErrors.MORE_DESCRIPTORS,
        null);
  }
}
