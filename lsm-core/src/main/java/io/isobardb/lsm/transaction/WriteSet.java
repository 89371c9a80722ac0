package io.isobardb.lsm.transaction;

import io.isobardb.lsm.range.RangeDelete;
import io.isobardb.lsm.state.TreeHandle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction is going to write, in the order of trees and keys, and what it takes to go
 * back to a savepoint.
 *
 * <p>Thread rule: one thread at a time, but see {@link OwnWrites}.
 */
public final class WriteSet {
  /** Receives writes, in order. */
  @FunctionalInterface
  public interface Handler {
    /** A write. */
    void write(TreeHandle tree, byte[] key, OwnWrites.Write write);
  }

  /** Receives range deletes. */
  @FunctionalInterface
  public interface RangeHandler {
    /** A delete of all keys of a range. */
    void delete(TreeHandle tree, RangeDelete range);
  }

  private final TreeMap<TreeHandle, OwnWrites> writes =
      new TreeMap<>(Comparator.comparingInt(TreeHandle::id));

  /** Each takes back one write. */
  private final List<Runnable> undo = new ArrayList<>();

  /** What is to be written to a tree, from now on as well. */
  public OwnWrites of(TreeHandle tree) {
    return writes.computeIfAbsent(tree, of -> new OwnWrites(of.order()));
  }

  /** The write of a key, or null if there is none. */
  public OwnWrites.@Nullable Write get(TreeHandle tree, byte[] key) {
    OwnWrites own = writes.get(tree);
    return own == null ? null : own.get(key);
  }

  /**
   * What the transaction reads.
   *
   * @param below reads what the tree has, which is asked for only if it counts
   * @return null if there is no such key
   */
  public byte @Nullable [] read(TreeHandle tree, byte[] key, Supplier<byte @Nullable []> below) {
    OwnWrites.Write own = get(tree, key);
    return own == null ? below.get() : own.read(tree, key, below);
  }

  /**
   * Takes a write up.
   *
   * @param key not changed afterwards, nor is what is written
   * @param undoable whether it may be taken back alone
   */
  public void put(TreeHandle tree, byte[] key, OwnWrites.Write write, boolean undoable) {
    OwnWrites own = of(tree);
    OwnWrites.Write before = own.put(key, write);
    if (undoable) {
      undo.add(() -> own.restore(key, before));
    }
  }

  /**
   * Merges an operand into a key; as {@link #put}.
   *
   * @param write the operand alone
   */
  public void merge(TreeHandle tree, byte[] key, OwnWrites.Write write, boolean undoable) {
    put(tree, key, OwnWrites.Write.merged(get(tree, key), write), undoable);
  }

  /** Deletes all keys of a range; the bounds are not changed afterwards. Else as {@link #put}. */
  public void deleteRange(
      TreeHandle tree, byte @Nullable [] from, byte @Nullable [] to, boolean undoable) {
    OwnWrites own = of(tree);
    OwnWrites.Before before = own.deleteRange(from, to);
    if (undoable) {
      undo.add(() -> own.restore(before));
    }
  }

  /** Hands out all range deletes, which come before all other writes. */
  public void forEachRange(RangeHandler action) {
    writes.forEach((tree, own) -> own.ranges().forEach(range -> action.delete(tree, range)));
  }

  /**
   * Passes if a tree may be written to besides the others.
   *
   * @throws IllegalArgumentException if it is logged and they are not, or the other way round
   */
  public void checkLogged(TreeHandle tree) {
    boolean logged = tree.settings().logged();
    writes.forEach(
        (other, written) -> {
          if (!written.isEmpty() && other.settings().logged() != logged) {
            throw new IllegalArgumentException(
                "a transaction can't write to logged and unlogged trees: '"
                    + tree.name()
                    + "' is "
                    + (logged ? "logged" : "unlogged")
                    + ", '"
                    + other.name()
                    + "' is not the same");
          }
        });
  }

  /** Where {@link #backTo} can go back to: the number of writes that may be taken back. */
  public int position() {
    return undo.size();
  }

  /** Takes back what was put since {@link #position} told this. */
  public void backTo(int position) {
    while (undo.size() > position) {
      undo.remove(undo.size() - 1).run();
    }
  }

  /** What was put so far is not taken back alone any more. */
  public void keep() {
    undo.clear();
  }

  /** The trees that are written to. */
  public List<TreeHandle> trees() {
    return writes.keySet().stream().filter(tree -> !of(tree).isEmpty()).toList();
  }

  /** Hands out all writes. */
  public void forEach(Handler action) {
    writes.forEach((tree, own) -> own.forEach((key, write) -> action.write(tree, key, write)));
  }

  public void clear() {
    writes.clear();
    undo.clear();
  }
}
