package io.isobardb.tpcc.schema;

/**
 * An address: two streets and a city of 10 to 20 characters, a state of 2, a zip code of 9.
 *
 * @param street1 first line
 * @param street2 second line
 * @param city city
 * @param state two letters
 * @param zip nine digits
 */
public record Address(byte[] street1, byte[] street2, byte[] city, byte[] state, byte[] zip) {
  byte[] stateAndZip() {
    byte[] both = new byte[11];
    System.arraycopy(state, 0, both, 0, 2);
    System.arraycopy(zip, 0, both, 2, 9);
    return both;
  }
}
