let () = print_string (Vectors.vectors ())
