// Command run plays the corpus on every body and prints one line each: how many scenarios passed. Run it in the root of the
// tree, with bin/hyroute.wasm and the web package built.
//
//	go run ./scenarios/run                       all bodies
//	go run ./scenarios/run -bodies native,wazero
//	go run ./scenarios/run -list                 the sentences: what the product does
//	go run ./scenarios/run -update [name ...]    write what the native machine answers into the files
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/hyroute/hyroute/scenarios/corpus"
)

const folder = "scenarios/corpus"

// scripts are the runners of bodies that are not written in Go. Each prints its own line and exits 1 on a failure.
var scripts = map[string]string{
	"node":     "web/test/scenarios-node.mjs",
	"chromium": "web/test/scenarios-chromium.mjs",
	"firefox":  "web/test/scenarios-firefox.mjs",
}

func main() {
	update := flag.Bool("update", false, "write what the native machine answers into the files that are named, or into all")
	list := flag.Bool("list", false, "print the sentence of each scenario")
	bodies := flag.String("bodies", "native,wazero,node,chromium,firefox", "the bodies that play the corpus")
	module := flag.String("module", "bin/hyroute.wasm", "the module for wazero")
	flag.Parse()
	all, err := corpus.Load(folder)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no scenario in %s", folder)
	}
	switch {
	case err != nil:
	case *list:
		for _, s := range all {
			fmt.Printf("%-40s %s\n", s.Name, s.Sentence)
		}
	case *update:
		err = bless(all, flag.Args())
	default:
		err = playAll(all, strings.Split(*bodies, ","), *module)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "scenarios: %v\n", err)
		os.Exit(1)
	}
}

func bless(all []*corpus.Scenario, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s *corpus.Scenario) bool { return s.Name == name }) {
			return fmt.Errorf("no scenario %s", name)
		}
	}
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		if err := s.Bless(corpus.Native()); err != nil {
			return err
		}
		if err := s.Save(folder); err != nil {
			return err
		}
	}
	return nil
}

func playAll(all []*corpus.Scenario, bodies []string, module string) error {
	failed := false
	for _, body := range bodies {
		var err error
		switch script := scripts[body]; {
		case body == "native":
			err = play(body, all, corpus.Native())
		case body == "wazero":
			var wasm []byte
			if wasm, err = os.ReadFile(module); err == nil {
				err = play(body, all, corpus.Wazero(wasm))
			}
		case script != "":
			command := exec.Command("node", script)
			command.Stdout, command.Stderr = os.Stdout, os.Stderr
			err = command.Run()
		default:
			return fmt.Errorf("no body %q", body)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "scenarios: %s: %v\n", body, err)
		}
	}
	if failed {
		return fmt.Errorf("not all bodies passed")
	}
	return nil
}

func play(body string, all []*corpus.Scenario, make corpus.Maker) error {
	failed := 0
	for _, s := range all {
		if err := s.Play(make); err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "%s: %v\n", body, err)
		}
	}
	fmt.Printf("%s: %d passed, %d failed\n", body, len(all)-failed, failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d scenarios failed", failed, len(all))
	}
	return nil
}
