package io.isobardb.tuner.shape;

/**
 * How many times as much as a model says a tree costs: what was found lately beside what was
 * modelled, of writes and of reads. Immutable.
 *
 * @param written found of writes
 * @param writtenModel modelled of the same
 * @param read found of reads
 * @param readModel modelled of the same
 * @param windows in how many windows
 */
public record Calibration(
    double written, double writtenModel, double read, double readModel, int windows) {
  /** Nothing was found. */
  public static final Calibration NONE = new Calibration(0, 0, 0, 0, 0);

  /** Merges come and go: in fewer windows it is not seen what they cost. */
  private static final int ENOUGH = 5;

  /** Fewer do not tell two kinds of runs apart. */
  private static final int FEW = 3;

  /** What an earlier window counts beside a later one. */
  private static final double KEPT = 0.85;

  /**
   * {@return what one window tells}
   *
   * @param written what writes were found to cost
   * @param writtenModel what they cost by the model
   * @param read what reads were found to cost
   * @param readModel what they cost by the model
   */
  public static Calibration of(double written, double writtenModel, double read, double readModel) {
    return new Calibration(written, writtenModel, read, readModel, 1);
  }

  /**
   * {@return the same with one more window, or several} Earlier ones count less.
   *
   * @param window what it tells
   */
  public Calibration after(Calibration window) {
    boolean writes = window.writtenModel > 0;
    boolean reads = window.readModel > 0;
    return new Calibration(
        writes ? KEPT * written + window.written : written,
        writes ? KEPT * writtenModel + window.writtenModel : writtenModel,
        reads ? KEPT * read + window.read : read,
        reads ? KEPT * readModel + window.readModel : readModel,
        Math.min(ENOUGH, windows + window.windows));
  }

  /** {@return whether it was found for long enough} */
  public boolean isEnough() {
    return windows >= ENOUGH;
  }

  /** {@return whether it tells anything} */
  public boolean isTold() {
    return windows >= FEW;
  }

  /**
   * {@return this, as far as it is known; the rest as another has it}
   *
   * @param other of another kind of runs
   */
  public Calibration orElse(Calibration other) {
    if (!isTold()) {
      return other;
    }
    boolean writes = writtenModel > 0;
    boolean reads = readModel > 0;
    return new Calibration(
        writes ? written : other.written,
        writes ? writtenModel : other.writtenModel,
        reads ? read : other.read,
        reads ? readModel : other.readModel,
        windows);
  }

  /** {@return the factor for the model of writes; 1 if nothing is known} */
  public double writes() {
    return factor(written, writtenModel);
  }

  /** {@return the factor for the model of reads; 1 if nothing is known} */
  public double reads() {
    return factor(read, readModel);
  }

  private static double factor(double found, double modelled) {
    return modelled > 0 ? Math.min(MOST, Math.max(1 / MOST, found / modelled)) : 1;
  }

  /** The model is not taken to be farther off. */
  private static final double MOST = 20;
}
