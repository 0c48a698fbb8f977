// Package capture says what a record of the archive tells about the attempt that it was stored for.
package capture
