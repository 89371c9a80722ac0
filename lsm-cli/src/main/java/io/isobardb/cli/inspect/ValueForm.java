package io.isobardb.cli.inspect;

import io.isobardb.cli.console.Numbers;
import io.isobardb.cli.console.UsageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How values are given and shown. A value that has another form is refused with what it is: nothing
 * is shown as what it is not.
 */
enum ValueForm {
  /** As keys are: text if all bytes are printable ASCII, else 0x and hexadecimal digits. */
  AUTO {
    @Override
    byte[] parse(String text) {
      return KeyText.parse(text);
    }

    @Override
    String format(byte[] value) {
      return KeyText.format(value);
    }
  },

  /** UTF-8, whatever it begins with. */
  TEXT {
    @Override
    byte[] parse(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    String format(byte[] value) {
      try {
        return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(value)).toString();
      } catch (CharacterCodingException e) {
        throw refused("is no UTF-8", e);
      }
    }

    @Override
    String toColumn(String text) {
      return text.replace("\\", "\\\\")
          .replace("\t", "\\t")
          .replace("\n", "\\n")
          .replace("\r", "\\r");
    }

    @Override
    String ofColumn(String column) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < column.length(); i++) {
        char c = column.charAt(i);
        if (c != '\\') {
          text.append(c);
          continue;
        }
        i++;
        int which = i == column.length() ? -1 : "tnr\\".indexOf(column.charAt(i));
        if (which < 0) {
          throw new UsageException(
              "'" + column + "' is no text: behind a backslash comes t, n, r or another backslash");
        }
        text.append("\t\n\r\\".charAt(which));
      }
      return text.toString();
    }
  },

  /** Hexadecimal digits, with 0x before them or without. */
  HEX {
    @Override
    byte[] parse(String text) {
      return KeyText.parse(text.startsWith(KeyText.HEX) ? text : KeyText.HEX + text);
    }

    @Override
    String format(byte[] value) {
      return KeyText.HEX + HexFormat.of().formatHex(value);
    }
  },

  /** A whole number of 8 bytes, as {@code Codec.int64} and counters have it. */
  LONG {
    @Override
    byte[] parse(String text) {
      return bytes(Long.BYTES).putLong(0, whole(text, Long.MIN_VALUE, Long.MAX_VALUE)).array();
    }

    @Override
    String format(byte[] value) {
      return Long.toString(sized(value, Long.BYTES).getLong());
    }

    @Override
    Object toJson(byte[] value) {
      return sized(value, Long.BYTES).getLong();
    }
  },

  /** A whole number of 4 bytes. */
  INT {
    @Override
    byte[] parse(String text) {
      long value = whole(text, Integer.MIN_VALUE, Integer.MAX_VALUE);
      return bytes(Integer.BYTES).putInt(0, (int) value).array();
    }

    @Override
    String format(byte[] value) {
      return Integer.toString(sized(value, Integer.BYTES).getInt());
    }

    @Override
    Object toJson(byte[] value) {
      return sized(value, Integer.BYTES).getInt();
    }
  },

  /** JSON in UTF-8; in lines, what stands between its words is blanks. */
  JSON {
    @Override
    byte[] parse(String text) {
      try {
        JsonText.check(text);
      } catch (UsageException e) {
        throw new UsageException("'" + text + "' is no JSON: " + e.getMessage(), e);
      }
      return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    String format(byte[] value) {
      String text = TEXT.format(value);
      try {
        JsonText.check(text);
      } catch (UsageException e) {
        throw refused("is no JSON: " + e.getMessage(), e);
      }
      return text;
    }

    /** No string of JSON has such a character in it, so it stands between words. */
    @Override
    String toColumn(String text) {
      return text.replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
    }

    @Override
    @Nullable Object toJson(byte[] value) throws IOException {
      return JsonText.read(format(value));
    }
  };

  /**
   * The value that {@code text} stands for.
   *
   * @throws UsageException if it stands for none
   */
  abstract byte[] parse(String text);

  /**
   * A value for people.
   *
   * @throws UsageException if it has another form
   */
  abstract String format(byte[] value);

  /** What {@link #format} gives, as a column of a line: without tabs and ends of lines. */
  String toColumn(String text) {
    return text;
  }

  /** What stands in a column, as {@link #parse} takes it. */
  String ofColumn(String column) {
    return column;
  }

  /** A value within an object of JSON: a number, a string, or what it is itself. */
  @Nullable Object toJson(byte[] value) throws IOException {
    return format(value);
  }

  private static UsageException refused(String what, @Nullable Throwable cause) {
    return new UsageException("the value " + what + "; --as auto shows any value", cause);
  }

  private static ByteBuffer bytes(int length) {
    return ByteBuffer.allocate(length);
  }

  /** A value of a length of its own, to be read. */
  final ByteBuffer sized(byte[] value, int length) {
    if (value.length != length) {
      throw refused(
          String.format(
              Locale.ROOT,
              "has %,d bytes, and one that is %s has %d",
              value.length,
              name().toLowerCase(Locale.ROOT),
              length),
          null);
    }
    return ByteBuffer.wrap(value);
  }

  private static long whole(String text, long least, long most) {
    try {
      long value = Numbers.parseLong(text);
      if (value >= least && value <= most) {
        return value;
      }
    } catch (UsageException e) {
      // Told below.
    }
    throw new UsageException(
        String.format(Locale.ROOT, "'%s' is no whole number from %d to %d", text, least, most));
  }
}
