#!/bin/sh
# Compare tonight's responses with those of the last release. Exits with 1 if search is worse, with 2 for wrong input.
measures="nDCG@10 RR(rel=3)"
mkdir -p scores
./ask.sh queries.tsv > tonight.json || exit 2 # your search engine

ir_graded compare qrels.csv release=release.json tonight=tonight.json -m "$measures" \
  --weights traffic.csv --slices kinds.csv --tolerance 0.01 --fail-if worse -o markdown > verdict.md
worse=$?
ir_graded report qrels.csv release=release.json tonight=tonight.json -m "$measures" \
  --weights traffic.csv --baseline release --queries queries.tsv --html report.html
ir_graded evaluate qrels.csv search=tonight.json -m "$measures" --save "scores/$(date +%F).json" > /dev/null
ir_graded history scores -m nDCG@10 --weights traffic.csv --slices kinds.csv --plot history.svg > history.txt
exit $worse
