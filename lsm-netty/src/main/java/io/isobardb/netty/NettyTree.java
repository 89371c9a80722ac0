package io.isobardb.netty;

import io.isobardb.lsm.Cursor;
import io.isobardb.lsm.Durability;
import io.isobardb.lsm.Tree;
import io.isobardb.lsm.WriteBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A tree whose keys and values are Netty's buffers. A view: it holds nothing but the tree, an
 * allocator, and a guess of how long values are.
 *
 * <pre>{@code
 * NettyTree tree = NettyTree.of(store.openTree("t"), ctx.alloc());
 * tree.put(frame.readSlice(16), frame); // what remains of the frame is the value
 * ByteBuf value = tree.get(key); // null if there is no such key
 * ctx.writeAndFlush(value); // the reader releases it, here by writing it
 * }</pre>
 *
 * <p>What is given to a method is what can be read of a buffer. It is neither moved nor released,
 * and may be changed and released once the call has returned. Buffers that come from here are new,
 * of the allocator, and belong to the caller, who releases them.
 *
 * <p>Values are copied once: between the buffer and the store's memory. A buffer that is made of
 * several ({@code CompositeByteBuf}) is put together before that.
 *
 * <p>Thread rule: all methods may be called by any thread; those with a batch or a cursor by that
 * one's. The store may block a call that writes: an event loop should have another thread do it.
 *
 * <p>Errors: those of {@link Tree}; and {@code IllegalReferenceCountException} if a buffer was
 * released before the call, which names the argument, and nothing has happened then. A buffer that
 * another thread releases during the call stays until the call is done with it.
 */
public final class NettyTree {
  /** Room that is made for a value before its length is known, at least and at most. */
  private static final int LEAST_ROOM = 64;

  private static final int MOST_ROOM = 16 << 10;

  /** The room shrinks by this part of what was not needed: slowly, since lengths may alternate. */
  private static final int SHRINKING = 256;

  private final Tree tree;
  private final ByteBufAllocator allocator;

  /** Set by any thread: a bad guess costs a second lookup. */
  private int expectedBytes = LEAST_ROOM;

  private NettyTree(Tree tree, ByteBufAllocator allocator) {
    this.tree = tree;
    this.allocator = allocator;
  }

  /**
   * {@return a view of a tree}
   *
   * @param tree the tree to view
   * @param allocator makes the buffers that are read into
   */
  public static NettyTree of(Tree tree, ByteBufAllocator allocator) {
    return new NettyTree(
        Objects.requireNonNull(tree, "tree"), Objects.requireNonNull(allocator, "allocator"));
  }

  /** {@return the tree that this is a view of} */
  public Tree tree() {
    return tree;
  }

  /** Keeps a buffer from going back to its pool during a call. */
  private static ByteBuf retain(ByteBuf buffer, String what) {
    try {
      return Objects.requireNonNull(buffer, what).retain();
    } catch (IllegalReferenceCountException e) {
      IllegalReferenceCountException clear =
          new IllegalReferenceCountException(
              "the buffer of the " + what + " was released before the call: nothing was done");
      clear.initCause(e);
      throw clear;
    }
  }

  /** What can be read, with a position of its own: slices of one buffer may be used at once. */
  private static ByteBuffer view(ByteBuf buffer) {
    return buffer.nioBuffer(buffer.readerIndex(), buffer.readableBytes());
  }

  /** The bytes of a key: the store would make such an array of a buffer, too. */
  private static byte[] bytes(ByteBuf key) {
    retain(key, "key");
    try {
      byte[] bytes = new byte[key.readableBytes()];
      key.getBytes(key.readerIndex(), bytes);
      return bytes;
    } finally {
      key.release();
    }
  }

  // ---- reading

  /**
   * {@return the value of a key, in a new buffer, or null if there is none}
   *
   * @param key its key
   */
  public @Nullable ByteBuf get(ByteBuf key) {
    byte[] wanted = bytes(key);
    ByteBuf made = allocator.buffer(expectedBytes);
    boolean isWhole = false;
    int length;
    try {
      // Nobody else has it yet, so its own view can be used.
      length = fill(wanted, made, made.internalNioBuffer(0, made.capacity()));
      isWhole = length == made.readableBytes();
    } finally {
      if (!isWhole) {
        made.release();
      }
    }
    if (length == Tree.NOT_FOUND) {
      return null;
    }
    expect(length);
    return isWhole ? made : tree.read(wanted, this::copy);
  }

  private void expect(int length) {
    int last = expectedBytes;
    int next = length > last ? length : last - (last - length) / SHRINKING;
    if (next != last) {
      expectedBytes = Math.min(MOST_ROOM, Math.max(LEAST_ROOM, next));
    }
  }

  /**
   * Appends the value of a key, if it fits into the buffer as it is: the store copies it there.
   *
   * @param free a view of what can be written
   * @return the value's length, or {@link Tree#NOT_FOUND}
   */
  private int fill(byte[] key, ByteBuf target, ByteBuffer free) {
    int room = free.remaining();
    int length = tree.get(key, free);
    if (length > 0 && length <= room) {
      target.writerIndex(target.writerIndex() + length);
    }
    return length;
  }

  private ByteBuf copy(ByteBuffer value) {
    ByteBuf copy = allocator.buffer(value.remaining());
    try {
      return copy.writeBytes(value);
    } catch (RuntimeException | Error e) {
      copy.release();
      throw e;
    }
  }

  /**
   * Writes the value of a key to the end of a buffer, which grows if it has to.
   *
   * @param key its key
   * @param target what it is appended to
   * @return how many bytes were written, or {@link Tree#NOT_FOUND}
   */
  public int get(ByteBuf key, ByteBuf target) {
    byte[] wanted = bytes(key);
    retain(target, "target");
    try {
      int from = target.writerIndex();
      if (target.nioBufferCount() == 1) {
        int length = fill(wanted, target, target.nioBuffer(from, target.writableBytes()));
        if (length == Tree.NOT_FOUND || target.writerIndex() == from + length) {
          return length;
        }
      }
      ByteBuf found = tree.read(wanted, target::writeBytes);
      return found == null ? Tree.NOT_FOUND : target.writerIndex() - from;
    } finally {
      target.release();
    }
  }

  /**
   * {@return whether there is such a key}
   *
   * @param key its key
   */
  public boolean contains(ByteBuf key) {
    return tree.contains(bytes(key));
  }

  /**
   * Moves a cursor to the first entry whose key is not before this one; see {@link Cursor}.
   *
   * @param cursor the cursor
   * @param key its key
   * @return whether there is one
   */
  public static boolean seek(Cursor cursor, ByteBuf key) {
    Objects.requireNonNull(cursor, "cursor");
    return cursor.seek(bytes(key));
  }

  /**
   * {@return the key that a cursor stands on, in a new buffer}
   *
   * @param cursor the cursor
   */
  public ByteBuf key(Cursor cursor) {
    return filled(cursor.keyLength(), cursor::key);
  }

  /**
   * {@return the value that a cursor stands on, in a new buffer}
   *
   * @param cursor the cursor
   */
  public ByteBuf value(Cursor cursor) {
    return filled(cursor.valueLength(), cursor::value);
  }

  private interface Filling {
    int fill(ByteBuffer target);
  }

  private ByteBuf filled(int length, Filling filling) {
    ByteBuf made = allocator.buffer(length);
    try {
      filling.fill(made.nioBuffer(0, length));
      return made.writerIndex(length);
    } catch (RuntimeException | Error e) {
      made.release();
      throw e;
    }
  }

  // ---- writing

  /**
   * Sets a key, with the store's default durability.
   *
   * @param key its key
   * @param value its value
   */
  public void put(ByteBuf key, ByteBuf value) {
    withBoth(key, value, (k, v) -> tree.put(k, v));
  }

  /**
   * Sets a key. What the write survives when this returns says {@link Durability}.
   *
   * @param key its key
   * @param value its value
   * @param durability what the write survives when this returns
   */
  public void put(ByteBuf key, ByteBuf value, Durability durability) {
    Objects.requireNonNull(durability, "durability");
    withBoth(key, value, (k, v) -> tree.put(k, v, durability));
  }

  /**
   * Adds a put to a batch, which copies both.
   *
   * @param batch gets the write
   * @param key its key
   * @param value its value
   */
  public void put(WriteBatch batch, ByteBuf key, ByteBuf value) {
    Objects.requireNonNull(batch, "batch");
    withBoth(key, value, (k, v) -> batch.put(tree, k, v));
  }

  private interface Write {
    void write(ByteBuffer key, ByteBuffer value);
  }

  private static void withBoth(ByteBuf key, ByteBuf value, Write write) {
    retain(key, "key");
    try {
      retain(value, "value");
      try {
        write.write(view(key), view(value));
      } finally {
        value.release();
      }
    } finally {
      key.release();
    }
  }

  /**
   * Removes a key, whether it is there or not.
   *
   * @param key its key
   */
  public void delete(ByteBuf key) {
    tree.delete(bytes(key));
  }

  /**
   * Adds a delete to a batch.
   *
   * @param batch gets the write
   * @param key its key
   */
  public void delete(WriteBatch batch, ByteBuf key) {
    Objects.requireNonNull(batch, "batch");
    batch.delete(tree, bytes(key));
  }

  @Override
  public String toString() {
    return "buffers of " + tree;
  }
}
