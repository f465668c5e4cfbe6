(** Turns [Vectors.vectors] into OCaml; printing its value gives vectors.json. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNativeString.
From Counterfair Require Import Vectors.

Extraction "vectors.ml" vectors.
