/**
 * Values of typed trees and datasets as JSON.
 *
 * <p>Owns one codec. What becomes of a type is decided by the user's {@code ObjectMapper}.
 */
@NullMarked
package io.isobardb.jackson;

import org.jspecify.annotations.NullMarked;
