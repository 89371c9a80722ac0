package io.isobardb.bench.experiment.report;

/**
 * What became of a claim.
 *
 * @param claim in words
 * @param outcome whether the numbers say so
 * @param numbers those it was decided by, in words
 */
public record Verdict(String claim, Outcome outcome, String numbers) {
  /** Whether a claim is borne out. */
  public enum Outcome {
    HOLDS("holds", "hold"),
    DOES_NOT_HOLD("does not hold", "do not hold"),
    NOT_DECIDED("not decided", "not decided");

    private final String words;
    private final String ofSeveral;

    Outcome(String words, String ofSeveral) {
      this.words = words;
      this.ofSeveral = ofSeveral;
    }

    /** The verdict on a number of claims, for people. */
    String words(long claims) {
      return claims == 1 ? words : ofSeveral;
    }

    /** For people. */
    public String words() {
      return words;
    }
  }
}
