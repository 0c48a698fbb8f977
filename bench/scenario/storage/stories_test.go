package storage

import (
	"testing"

	"orbweaver/bench/scenario/story"
)

func TestStories(t *testing.T) { story.Run(t, "testdata", nil) }
