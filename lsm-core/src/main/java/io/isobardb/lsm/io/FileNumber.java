package io.isobardb.lsm.io;

/** Numbers in names of files: the digits 0 to 9, whatever the language of the process. */
public final class FileNumber {
  private FileNumber() {}

  /** A number that is not negative, with leading zeros. */
  public static String text(long number, int digits) {
    String text = Long.toString(number);
    return text.length() < digits ? "0".repeat(digits - text.length()) + text : text;
  }
}
