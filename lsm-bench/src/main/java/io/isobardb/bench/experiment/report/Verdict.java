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
    HOLDS("holds"),
    DOES_NOT_HOLD("does not hold"),
    NOT_DECIDED("not decided");

    private final String words;

    Outcome(String words) {
      this.words = words;
    }

    /** For people. */
    public String words() {
      return words;
    }
  }
}
