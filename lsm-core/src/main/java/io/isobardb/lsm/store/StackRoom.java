package io.isobardb.lsm.store;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.util.function.IntConsumer;

/**
 * Room on the calling thread's stack. A call that ran out of it half way would leave behind what it
 * had begun: half a leaf, a lock, pages. So each call of a user first takes more than it needs, for
 * a moment. If there is less, it ends here and has done nothing.
 *
 * <p>The interpreter's frame of a method has room for all of its local variables, used or not.
 * Compiled code makes sure that there is room for the interpreter's frames of what it inlines. So a
 * method with thousands of variables asks for that much of the stack, for the cost of a write to
 * each page of it. Java has no short way to declare them. So the class of the method is written
 * here, byte by byte.
 *
 * <p>Thread rule: all methods may be called by any thread.
 */
final class StackRoom {
  /** A call that finds 20 KB may fail half way, one that finds 24 KB was not seen to. */
  static final int BYTES = 32 << 10;

  /** For steps of a cursor; and what was opened near the end of the stack can be closed there. */
  static final int LESS_BYTES = BYTES / 2;

  private static final IntConsumer FRAME = frame(BYTES);
  private static final IntConsumer LESS_FRAME = frame(LESS_BYTES);

  /** Stays 0. No compiler knows that, so it keeps what would throw, and the frame for it. */
  private static int never;

  private StackRoom() {}

  /**
   * Passes if there is room for a call.
   *
   * @throws StackOverflowError if there is not
   */
  static void check() {
    FRAME.accept(never);
  }

  /**
   * Passes if there is room to give something back, or for a step of a cursor.
   *
   * @throws StackOverflowError if there is not
   */
  static void checkForLess() {
    LESS_FRAME.accept(never);
  }

  /**
   * An object of a class with the method {@code accept(int n) { if (n < 0) throw null; }}.
   *
   * @param room bytes of that method's frame
   */
  private static IntConsumer frame(int room) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    String name = StackRoom.class.getName().replace('.', '/') + "Frame";
    try {
      out.writeInt(0xCAFEBABE);
      out.writeInt(55); // of Java 11
      out.writeShort(15); // constants, of which the first is number 1
      text(out, name);
      reference(out, 7, 1); // 2: this class
      text(out, "java/lang/Object");
      reference(out, 7, 3); // 4: its superclass
      text(out, "java/util/function/IntConsumer");
      reference(out, 7, 5); // 6: its interface
      text(out, "<init>"); // 7
      text(out, "()V"); // 8
      reference(out, 12, 7, 8); // 9: name and type of a constructor
      reference(out, 10, 4, 9); // 10: that of the superclass
      text(out, "accept"); // 11
      text(out, "(I)V"); // 12
      text(out, "Code"); // 13
      text(out, "StackMapTable"); // 14
      shorts(out, 0x1031, 2, 4, 1, 6, 0); // public final synthetic; no fields
      shorts(out, 2); // methods
      shorts(out, 1, 7, 8, 1, 13);
      out.writeInt(17);
      shorts(out, 1, 1);
      out.writeInt(5);
      out.write(new byte[] {0x2A, (byte) 0xB7, 0, 10, (byte) 0xB1}); // super(); return
      shorts(out, 0, 0);
      shorts(out, 1, 11, 12, 1, 13);
      out.writeInt(28);
      shorts(out, 1, room / Long.BYTES); // stack, and local variables of a word each
      out.writeInt(7);
      out.write(new byte[] {0x1B, (byte) 0x9C, 0, 5, 1, (byte) 0xBF, (byte) 0xB1});
      shorts(out, 0, 1, 14);
      out.writeInt(3);
      shorts(out, 1);
      out.write(6); // at the return all is as at the beginning
      shorts(out, 0); // attributes of the class
      return (IntConsumer)
          MethodHandles.lookup()
              .defineHiddenClass(bytes.toByteArray(), true)
              .lookupClass()
              .getConstructor()
              .newInstance();
    } catch (IOException | ReflectiveOperationException | LinkageError e) {
      // Where no class can be made at run time nobody looks for room.
      return n -> {};
    }
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    out.write(1);
    out.writeUTF(text);
  }

  private static void reference(DataOutputStream out, int kind, int... to) throws IOException {
    out.write(kind);
    shorts(out, to);
  }

  private static void shorts(DataOutputStream out, int... values) throws IOException {
    for (int value : values) {
      out.writeShort(value);
    }
  }
}
