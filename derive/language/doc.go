// Package language detects the languages of texts with a model of fastText that the user has: lid.176, GlotLID or one
// of the same form. It has no model of its own.
//
//	text --first 8 KiB--> fasttext.Predictor --label--> Main: code, script and score
//	     --parts of 1 to 2 KiB at line ends--> the same for each --> Parts: ISO 639-3 codes by their share of the text
//
// Labels are codes of ISO 639-1 or 639-3, with the script after an underscore in some models. They are kept as they
// are, so that they can be compared with those of other pipelines. Scores are those of fastText: package fasttext.
//
// A part of a text counts if its score is at least 0.5. Parts is empty if no part does.
//
// A Model is a mapped file, and may be shared. A detector belongs to one goroutine.
package language
