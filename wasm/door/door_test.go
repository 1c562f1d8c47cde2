package door

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/runtime/wire"
)

const open = "open runtime=runtime://a.example/r1 wall=1700000000000 seed=0123456789abcdef domains=b.example direct=1\n"

// inputs are the inputs of all scenarios, one list a file: an open line, then frames.
func inputs(t testing.TB) (all [][]string) {
	t.Helper()
	err := filepath.WalkDir("../../scenarios/corpus", func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".txt" {
			return err
		}
		text, err := os.ReadFile(name)
		var file []string
		for _, block := range strings.Split(string(text), "\n\n") {
			var in string
			for _, line := range strings.SplitAfter(block+"\n", "\n") {
				if strings.HasPrefix(line, "----") {
					break
				}
				if !strings.HasPrefix(line, "#") && line != "\n" {
					in += line
				}
			}
			if in != "" {
				file = append(file, in)
			}
		}
		all = append(all, file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("only %d scenarios", len(all))
	}
	return all
}

// live gives a life to one machine, and each step of it also to one that was restored just before. They must answer alike:
// a trap costs nothing but its own frame only if a snapshot is the whole state.
func live(t *testing.T, steps []string) {
	t.Helper()
	var whole Door
	if _, err := whole.Open([]byte(steps[0])); err != nil {
		return
	}
	for _, frame := range steps[1:] {
		snapshot, err := whole.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		snapshot = bytes.Clone(snapshot)
		var restored Door
		if err := restored.Restore(snapshot); err != nil {
			t.Fatalf("its own snapshot is refused: %v", err)
		}
		again, err := restored.Snapshot()
		if err != nil || !bytes.Equal(again, snapshot) {
			t.Fatalf("before\n%sthe snapshot of the restored machine differs (%v)\n%q\n%q", frame, err, snapshot, again)
		}
		want, wantErr := whole.Step([]byte(frame))
		var body wire.Decoder
		if _, err := body.Effects(want); err != nil {
			t.Fatalf("to\n%sthe machine answers what no body can read: %v\n%s", frame, err, want)
		}
		got, gotErr := restored.Step([]byte(frame))
		if (wantErr == nil) != (gotErr == nil) || !bytes.Equal(got, want) {
			t.Fatalf("to\n%sthe machine answers\n%s%v\nand the restored one\n%s%v", frame, want, wantErr, got, gotErr)
		}
	}
}

func TestARestoredMachineAnswersAlike(t *testing.T) {
	for _, steps := range inputs(t) {
		live(t, steps)
	}
}

// FuzzDoor gives any frames to a machine and to restored ones. Frames are separated by zero bytes; one that has no first line
// with the time gets one, later from time to time.
func FuzzDoor(f *testing.F) {
	f.Add("time-passed\n\x00closing\n")
	for _, steps := range inputs(f) {
		f.Add(strings.Join(steps[1:], "\x00"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps := []string{open}
		for _, frame := range strings.Split(text, "\x00") {
			if !strings.HasPrefix(frame, "at ") {
				frame = "at now=" + strings.Repeat("9", 1+len(steps)/8) + "\n" + frame
			}
			steps = append(steps, frame)
		}
		live(t, steps)
	})
}

func TestShutDoorSaysSo(t *testing.T) {
	var d Door
	if _, err := d.Step([]byte("at now=1\n")); err != errShut {
		t.Errorf("Step: %v", err)
	}
	if _, err := d.Snapshot(); err != errShut {
		t.Errorf("Snapshot: %v", err)
	}
	if err := d.Restore(nil); err == nil {
		t.Error("an empty snapshot was taken")
	}
	if _, err := d.Open([]byte("open\n")); err == nil {
		t.Error("a machine without a runtime was made")
	}
	if _, err := d.Step([]byte("at now=1\n")); err != errShut {
		t.Errorf("Step after all that: %v", err)
	}
}

// TestRefusedCallsChangeNothing: the machine that was there before goes on.
func TestRefusedCallsChangeNothing(t *testing.T) {
	var d, other Door
	for _, door := range []*Door{&d, &other} {
		if _, err := door.Open([]byte(open)); err != nil {
			t.Fatal(err)
		}
	}
	refuse := func(what string, err error) {
		if err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	_, err := d.Open([]byte("open runtime=x\n"))
	refuse("an open line with a bad runtime", err)
	_, err = d.Open([]byte("open\n"))
	refuse("an open line without a runtime", err)
	refuse("a bad snapshot", d.Restore([]byte("nonsense")))
	_, err = d.Step([]byte("at now=100000\nclosing\nclosed\n"))
	refuse("a frame with an unknown event", err)
	const frame = "at now=5\nendpoint-registered address=hyperty://a.example/alice\nstub-changed stub=1 status=live\n"
	want, err := other.Step([]byte(frame))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Step([]byte(frame)); err != nil || string(got) != string(want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
